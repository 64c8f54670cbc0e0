//! Makes the data folder that every instance starts from: initialised once, stopped cleanly, copied ever after.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use model::{Product, Version};

use super::{
    cache::Manifest,
    cancellation,
    copy::copy_tree,
    error::{ErrorKind, IoContext, Result, ServerError},
    flags, instance, os,
    ready::{self, ReadyCheck},
    scratch::{Scratch, remove_tree},
    settings, supervisor, view,
};

/// How the system tables of a server are made.
enum TemplateRecipe {
    /// MySQL from 5.7 on makes them by itself; `sql` runs afterwards.
    Initialize { sql: &'static str },
    /// Before that, and in MariaDB, it is fed with SQL files that come with it.
    Bootstrap { first: &'static str, files: &'static [SqlFile], last: &'static str },
    /// PostgreSQL has a program for it beside the server.
    Initdb,
}

/// A file of SQL: the names that it had in the course of time, and whether a server without it cannot be.
struct SqlFile {
    names: &'static [&'static str],
    needed: bool,
}

/// Root may come in over TCP as well; with `--skip-name-resolve` `root@localhost` cannot.
const MYSQL: TemplateRecipe = TemplateRecipe::Initialize {
    sql: "CREATE USER root@'127.0.0.1' IDENTIFIED BY '';\n\
          GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n",
};

/// The tables, what is in them, and the rest, in the order in which they must come.
const FILES: &[SqlFile] = &[
    SqlFile { names: &["mariadb_system_tables.sql", "mysql_system_tables.sql"], needed: true },
    SqlFile { names: &["mariadb_performance_tables.sql", "mysql_performance_tables.sql"], needed: false },
    SqlFile { names: &["mariadb_system_tables_data.sql", "mysql_system_tables_data.sql"], needed: true },
    SqlFile { names: &["fill_help_tables.sql"], needed: false },
    SqlFile { names: &["maria_add_gis_sp_bootstrap.sql"], needed: false },
    SqlFile { names: &["mariadb_sys_schema.sql", "mysql_sys_schema.sql"], needed: false },
];

/// Each statement on a line of its own; the bootstrap parser wants it so.
const MARIADB: TemplateRecipe = TemplateRecipe::Bootstrap {
    first: "create database mysql;\nuse mysql;\nSET @auth_root_socket=NULL;\nSET @skip_auth_anonymous=1;\n",
    files: FILES,
    last: "",
};

/// With accounts that have no name, which would come before root for whoever comes from this machine: they go.
const OLD: TemplateRecipe = TemplateRecipe::Bootstrap {
    first: "create database mysql;\nuse mysql;\n",
    files: FILES,
    last: "DELETE FROM mysql.user WHERE User='';\n",
};

/// Which recipe is for whom: the first row that fits, by product and the first version that is too new for it.
const RECIPES: &[(Product, &[u32], TemplateRecipe)] = &[
    (Product::Mysql, &[5, 7], OLD),
    (Product::Mysql, &[], MYSQL),
    (Product::Mariadb, &[10, 4], OLD),
    (Product::Mariadb, &[], MARIADB),
    (Product::Postgres, &[], TemplateRecipe::Initdb),
];

fn recipe(product: Product, version: &Version) -> Option<&'static TemplateRecipe> {
    let older = |bound: &[u32]| bound.is_empty() || version.cmp_prefix(&Version(bound.to_vec())).is_lt();
    RECIPES.iter().find(|(of, before, _)| *of == product && older(before)).map(|(_, _, recipe)| recipe)
}

/// Has it ALTER USER ... IDENTIFIED BY? Those that are made without accounts that have no name do.
pub fn has_alter_user(product: Product, version: &Version) -> bool {
    match recipe(product, version) {
        Some(TemplateRecipe::Initialize { .. }) => true,
        Some(TemplateRecipe::Bootstrap { last, .. }) => last.is_empty(),
        Some(TemplateRecipe::Initdb) | None => false,
    }
}

/// The largest first data folder, with its logs.
const FIRST_DATA: u64 = 256 << 20;

/// What an instance makes anew, or must not share.
const LEAVE_OUT: &[&str] = &["ibtmp1", "#innodb_temp", "ib_buffer_pool", "auto.cnf"];

/// How long an initialisation may take, on a slow disk too.
const PATIENCE: Duration = Duration::from_secs(300);

/// Makes `template` for the server unpacked in `root`; `work` is a folder for what is thrown away.
pub fn make(root: &Path, manifest: &Manifest, work: &Path, template: &Path) -> Result<()> {
    if let Some(TemplateRecipe::Initdb) = recipe(manifest.product, &manifest.version) {
        return initdb(root, manifest, template);
    }
    // As another user it runs where he can enter.
    let user = settings::maker(manifest.product);
    let name = format!("template-{}", std::process::id());
    let elsewhere = match user {
        Some(_) => {
            let parent = instance::room(FIRST_DATA, &name)?;
            Some(Scratch::create(&parent, &name).doing("make", &parent.join(&name))?)
        }
        None => None,
    };
    let work = elsewhere.as_ref().map_or(work, Scratch::path);
    let root = &view::of(root, user)?;
    let data = work.join(settings::DATA);
    for folder in [work, &work.join(settings::TMP), &data] {
        fs::create_dir_all(folder).doing("make", folder)?;
    }
    supervisor::hand_over(work, &[work.join(settings::TMP), data.clone()], user).doing("make", &data)?;
    supervisor::make_log(work, user).doing("write", &work.join(settings::ERROR_LOG))?;
    match recipe(manifest.product, &manifest.version) {
        Some(TemplateRecipe::Initialize { sql }) => {
            let file = work.join("init.sql");
            fs::write(&file, sql).doing("write", &file)?;
            let init = ["--initialize-insecure".to_string(), format!("--init-file={}", file.display())];
            finish(command(root, manifest, work, &data, &init), work, PATIENCE)?;
            start_once(root, manifest, work, &data)?;
        }
        Some(TemplateRecipe::Bootstrap { first, files, last }) => {
            let mut sql = first.as_bytes().to_vec();
            for file in *files {
                let share = root.join(&manifest.layout.share);
                let paths: Vec<_> = file.names.iter().map(|name| share.join(name)).collect();
                let Some(path) = paths.iter().find(|path| path.exists()) else {
                    if file.needed {
                        return Err(lacking(&share, file));
                    }
                    continue;
                };
                sql.extend(fs::read(path).doing("read", path)?);
                sql.push(b'\n');
            }
            sql.extend(last.as_bytes());
            let file = work.join("init.sql");
            fs::write(&file, &sql).doing("write", &file)?;
            // The help texts come in statements longer than the default packet.
            let init = ["--bootstrap".to_string(), "--max-allowed-packet=64M".to_string()];
            let mut bootstrap = command(root, manifest, work, &data, &init);
            bootstrap.stdin(fs::File::open(&file).doing("read", &file)?);
            finish(bootstrap, work, PATIENCE)?;
        }
        Some(TemplateRecipe::Initdb) | None => {
            let title = format!("{} has no server", manifest.product);
            return Err(ServerError::new(ErrorKind::UnknownVersion, title));
        }
    }
    for name in LEAVE_OUT {
        let path = data.join(name);
        let removed = if path.is_dir() { remove_tree(&path) } else { remove_file(&path) };
        removed.doing("remove", &path)?;
    }
    copy_tree(&data, template).doing("write", template)
}

/// Without this file there is no first data folder.
fn lacking(share: &Path, file: &SqlFile) -> ServerError {
    let share = fs::canonicalize(share).unwrap_or(share.to_path_buf());
    let names = file.names.join(" or ");
    ServerError::new(ErrorKind::UnknownVersion, format!("{} does not hold {names}", share.display()))
        .help("the server's first tables are made from it; unpack or install the whole of the server")
}

/// PostgreSQL may have to run as another user, who can enter the folders of instances but not the cache.
fn initdb(root: &Path, manifest: &Manifest, template: &Path) -> Result<()> {
    let user = settings::maker(manifest.product);
    let name = format!("template-{}", std::process::id());
    let parent = instance::room(0, &name)?;
    let scratch = Scratch::create(&parent, &name).doing("make", &parent.join(&name))?;
    let data = scratch.path().join(settings::DATA);
    fs::create_dir(&data).doing("make", &data)?;
    supervisor::hand_over(scratch.path(), std::slice::from_ref(&data), user).doing("make", &data)?;
    let program = view::of(root, user)?.join(&manifest.layout.server).with_file_name("initdb");
    let log = scratch.path().join(settings::ERROR_LOG);
    let output = fs::File::create(&log).doing("write", &log)?;
    let mut command = Command::new(&program);
    // Text is compared by its bytes, and times are those of no place: the same on every machine.
    command
        .args(["--no-locale", "--encoding=UTF8", "--auth=trust", "--no-sync"])
        .arg(format!("--username={}", settings::superuser(manifest.product)))
        .arg(format!("--pgdata={}", data.display()))
        .env_clear()
        .env("TZ", "UTC")
        .current_dir(scratch.path())
        .stdin(Stdio::null())
        .stdout(output.try_clone().doing("write", &log)?)
        .stderr(output);
    supervisor::run_as(&mut command, user);
    os::die_with_parent(&mut command);
    finish(command, scratch.path(), PATIENCE)?;
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
        .args(flags::throw_away(manifest.product, &manifest.version))
        .args(settings::instance(manifest.product, work, None))
        .args(init)
        .env_clear()
        .current_dir(work)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    supervisor::run_as(&mut command, settings::maker(manifest.product));
    os::die_with_parent(&mut command);
    command
}

/// The first real start makes keys and certificates, which takes up to a second: better here than in every instance.
fn start_once(root: &Path, manifest: &Manifest, work: &Path, data: &Path) -> Result<()> {
    let mut command = command(root, manifest, work, data, &["--skip-log-bin".to_string()]);
    let mut child = command.spawn().map_err(|error| ServerError::spawn("the server", &error))?;
    let mut dead = || matches!(child.try_wait(), Ok(Some(_)) | Err(_));
    let socket = settings::socket(manifest.product, work, None);
    let check = ReadyCheck {
        socket: &socket,
        sign: settings::sign(manifest.product),
        user: settings::superuser(manifest.product),
    };
    let up = ready::wait_until_open(check, PATIENCE, &mut |pause| {
        std::thread::sleep(pause);
        !dead() && !cancellation::asked()
    });
    os::terminate(child.id());
    let ended = child.wait();
    cancellation::check()?;
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
    let begin = Instant::now();
    while wait.recv_timeout(cancellation::LOOK).is_err() {
        let asked = cancellation::asked();
        if !asked && begin.elapsed() < patience {
            continue;
        }
        let _ = child.kill();
        let _ = child.wait();
        cancellation::check()?;
        return Err(failed(work, &format!("not done after {} seconds", patience.as_secs())));
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(work, &status.to_string())),
        Err(error) => Err(failed(work, &error.to_string())),
    }
}

fn failed(work: &Path, how: &str) -> ServerError {
    let log = supervisor::read_log(&work.join(settings::ERROR_LOG));
    if log.contains("No space left on device") || log.contains("errno: 28") || log.contains("Error number 28")
    {
        return ServerError::disk_full(work);
    }
    let mut error =
        ServerError::new(ErrorKind::Refused, format!("the new server could not be initialised: {how}"));
    error.help = supervisor::errors_of(&log);
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_has_a_recipe() {
        let of = |product, version: &str| recipe(product, &version.parse().unwrap());
        assert!(
            matches!(of(Product::Mysql, "5.6.24"), Some(TemplateRecipe::Bootstrap { last, .. }) if !last.is_empty())
        );
        assert!(matches!(of(Product::Mysql, "8.0.33"), Some(TemplateRecipe::Initialize { .. })));
        assert!(
            matches!(of(Product::Mariadb, "10.1.23"), Some(TemplateRecipe::Bootstrap { last, .. }) if !last.is_empty())
        );
        assert!(matches!(of(Product::Mariadb, "10.11.19"), Some(TemplateRecipe::Bootstrap { last: "", .. })));
        assert!(matches!(of(Product::Postgres, "13.1"), Some(TemplateRecipe::Initdb)));
        assert!(of(Product::Sqlite, "3").is_none());
    }
}
