//! Makes the data folder that every instance starts from: initialised once, stopped cleanly, copied ever after.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use model::Product;

use super::{
    cache::Manifest,
    copy::copy_tree,
    error::{ErrorKind, IoContext, Result, ServerError},
    keeper, os,
    scratch::remove_tree,
    settings,
};

/// MySQL: root may come in over TCP as well; with `--skip-name-resolve` `root@localhost` cannot.
const MYSQL_INIT: &str = "CREATE USER root@'127.0.0.1' IDENTIFIED BY '';\n\
                          GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n";

/// MariaDB: each statement on a line of its own; its bootstrap parser wants it so.
const MARIADB_INIT: &str =
    "create database mysql;\nuse mysql;\nSET @auth_root_socket=NULL;\nSET @skip_auth_anonymous=1;\n";

/// The files that make MariaDB's system tables, in order. Releases differ in the first part of the name.
const MARIADB_SQL: &[&[&str]] = &[
    &["mariadb_system_tables.sql", "mysql_system_tables.sql"],
    &["mariadb_performance_tables.sql", "mysql_performance_tables.sql"],
    &["mariadb_system_tables_data.sql", "mysql_system_tables_data.sql"],
    &["fill_help_tables.sql"],
    &["maria_add_gis_sp_bootstrap.sql"],
    &["mariadb_sys_schema.sql", "mysql_sys_schema.sql"],
];

/// What an instance makes anew, or must not share.
const LEAVE_OUT: &[&str] = &["ibtmp1", "#innodb_temp", "ib_buffer_pool", "auto.cnf"];

/// How long an initialisation may take, on a slow disk too.
const PATIENCE: Duration = Duration::from_secs(300);

/// Makes `template` for the server unpacked in `root`; `work` is a folder for what is thrown away.
pub fn make(root: &Path, manifest: &Manifest, work: &Path, template: &Path) -> Result<()> {
    for sub in ["", settings::TMP] {
        fs::create_dir_all(work.join(sub)).doing("make", &work.join(sub))?;
    }
    let data = work.join(settings::DATA);
    match manifest.product {
        Product::Mysql => {
            let file = work.join("init.sql");
            fs::write(&file, MYSQL_INIT).doing("write", &file)?;
            let init = ["--initialize-insecure".to_string(), format!("--init-file={}", file.display())];
            finish(command(root, manifest, work, &data, &init), work, PATIENCE)?;
            start_once(root, manifest, work, &data)?;
        }
        Product::Mariadb => {
            fs::create_dir_all(&data).doing("make", &data)?;
            let mut sql = MARIADB_INIT.as_bytes().to_vec();
            for names in MARIADB_SQL {
                let paths: Vec<_> = names.iter().map(|name| root.join(&manifest.share).join(name)).collect();
                let path = paths.iter().find(|path| path.exists()).unwrap_or(&paths[0]);
                sql.extend(fs::read(path).doing("read", path)?);
                sql.push(b'\n');
            }
            let file = work.join("init.sql");
            fs::write(&file, &sql).doing("write", &file)?;
            // The help texts come in statements longer than the default packet.
            let init = ["--bootstrap".to_string(), "--max-allowed-packet=64M".to_string()];
            let mut bootstrap = command(root, manifest, work, &data, &init);
            bootstrap.stdin(fs::File::open(&file).doing("read", &file)?);
            finish(bootstrap, work, PATIENCE)?;
        }
        Product::Postgres | Product::Sqlite => {
            return Err(ServerError::new(ErrorKind::UnknownVersion, "SQLite has no server"));
        }
    }
    for name in LEAVE_OUT {
        let path = data.join(name);
        let removed = if path.is_dir() { remove_tree(&path) } else { remove_file(&path) };
        removed.doing("remove", &path)?;
    }
    copy_tree(&data, template).doing("write", template)
}

fn remove_file(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn command(root: &Path, manifest: &Manifest, work: &Path, data: &Path, init: &[String]) -> Command {
    let program = settings::program(root, manifest);
    let mut command = Command::new(&program[0]);
    command
        .args(&program[1..])
        .args(settings::places(root, manifest, data))
        .args(settings::throw_away(manifest.product))
        .args(settings::instance(work, None))
        .args(init)
        .env_clear()
        .current_dir(work)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    os::die_with_parent(&mut command);
    command
}

/// The first real start makes keys and certificates, which takes up to a second: better here than in every instance.
fn start_once(root: &Path, manifest: &Manifest, work: &Path, data: &Path) -> Result<()> {
    let mut command = command(root, manifest, work, data, &["--skip-log-bin".to_string()]);
    let mut child = command.spawn().map_err(|error| ServerError::spawn("the server", &error))?;
    let mut dead = || matches!(child.try_wait(), Ok(Some(_)) | Err(_));
    let up = keeper::wait_for_greeting(&work.join(settings::SOCKET), PATIENCE, &mut |pause| {
        std::thread::sleep(pause);
        !dead()
    });
    os::terminate(child.id());
    let ended = child.wait();
    match ended {
        Ok(status) if up && status.success() => Ok(()),
        Ok(status) => Err(failed(work, &status.to_string())),
        Err(error) => Err(failed(work, &error.to_string())),
    }
}

/// Runs an initialisation to its end.
fn finish(mut command: Command, work: &Path, patience: Duration) -> Result<()> {
    let mut child = command.spawn().map_err(|error| ServerError::spawn("the server", &error))?;
    let pid = child.id();
    let (ended, wait) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        os::wait_until_ended(pid);
        let _ = ended.send(());
    });
    if wait.recv_timeout(patience).is_err() {
        let _ = child.kill();
        let _ = child.wait();
        return Err(failed(work, &format!("not done after {} seconds", patience.as_secs())));
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(work, &status.to_string())),
        Err(error) => Err(failed(work, &error.to_string())),
    }
}

fn failed(work: &Path, how: &str) -> ServerError {
    let log = keeper::read_log(&work.join(settings::ERROR_LOG));
    if log.contains("No space left on device") || log.contains("errno: 28") || log.contains("Error number 28")
    {
        return ServerError::disk_full(work);
    }
    let mut error =
        ServerError::new(ErrorKind::Refused, format!("the new server could not be initialised: {how}"));
    error.help = keeper::errors_of(&log);
    error
}
