//! What the pages look like, and the few lines of script that the copy buttons need.
//!
//! System fonts, one column, much space. One colour says that something is wrong, a quiet one that a check has passed; everything else is
//! ink on paper.

/// The style sheet of every page.
pub const CSS: &str = r#"
:root{color-scheme:light dark;
--paper:#fbfaf7;--card:#fff;--ink:#1c1c1e;--soft:#6b6a70;--faint:#a5a3a0;--rule:#e6e3dc;--wash:#f2f0ea;--wrong:#bf2f23;--wrong-wash:#fbecea;--right:#2f6b45;--right-wash:#e8f2eb;--fill:#8f9bb0;
--mono:ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace;
--sans:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif}
@media (prefers-color-scheme:dark){:root{
--paper:#141416;--card:#1b1b1f;--ink:#e9e7e3;--soft:#a09fa6;--faint:#6d6c73;--rule:#2d2d33;--wash:#222227;--wrong:#ff7a6b;--wrong-wash:#331d1b;--right:#86c79c;--right-wash:#1b2b21;--fill:#77839b}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 var(--sans);font-variant-numeric:tabular-nums;overflow-wrap:break-word}
main{max-width:1120px;margin:0 auto;padding:56px 40px 96px}
a{color:inherit;text-decoration-color:var(--faint);text-underline-offset:3px}
a:hover{text-decoration-color:currentColor}
:focus-visible{outline:2px solid var(--fill);outline-offset:2px;border-radius:4px}
nav{font-size:14px;color:var(--soft);margin-bottom:40px}
h1{font-size:32px;line-height:1.2;font-weight:650;letter-spacing:-.015em;margin:10px 0 12px;max-width:34em;text-wrap:balance}
h2{font-size:20px;line-height:1.3;font-weight:620;letter-spacing:-.005em;margin:64px 0 6px}
h3{font-size:15px;font-weight:600;margin:28px 0 8px}
p{margin:0 0 12px;max-width:44em}
.lead{color:var(--soft);margin-bottom:20px}
.meta{color:var(--soft);font-size:15px}
.pill{display:inline-block;font-size:13px;font-weight:600;padding:2px 10px;border-radius:99px;background:var(--wash);color:var(--soft)}
.pill.new{background:var(--wrong-wash);color:var(--wrong)}
.pill.good{background:var(--right-wash);color:var(--right)}
a.pill{text-decoration:none}
code,pre,.mono{font-family:var(--mono);font-size:13px;line-height:1.5}
p code,li code,td code{overflow-wrap:anywhere}
pre{margin:0;padding:16px 18px;overflow:auto;max-height:32em;background:var(--card);border:1px solid var(--rule);border-radius:10px;tab-size:4}
.story{margin:28px 0 0;padding:0;list-style:none;max-width:52em}
.story li{padding:9px 0;border-top:1px solid var(--rule)}
.story li:last-child{border-bottom:1px solid var(--rule)}
.story li.headline{font-weight:600}
.wrong{color:var(--wrong)}
.soft{color:var(--soft)}
.small{font-size:14px}
.scroll{overflow-x:auto}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:20px}
.card{background:var(--card);border:1px solid var(--rule);border-radius:12px;padding:18px 20px;min-width:0}
.card h3{margin:0 0 10px;font-size:14px;color:var(--soft);font-weight:600}
.card.bad h3,td.bad{color:var(--wrong)}
table{border-collapse:collapse;font-size:14px}
th{font-weight:600;text-align:left;color:var(--soft);font-size:13px}
th,td{padding:5px 18px 5px 0;vertical-align:top}
tbody tr{border-top:1px solid var(--rule)}
td.n,th.n{text-align:right}
table.rows td,table.rows th{font-family:var(--mono);font-size:13px}
table.rows tr.odd td{color:var(--wrong);font-weight:600}
table.rows td:first-child::before{content:"";display:inline-block;width:14px}
table.rows th:first-child::before{content:"";display:inline-block;width:14px}
.expected table.rows tr.odd td{color:var(--ink)}
.expected table.rows tr.odd td:first-child::before{content:"+"}
.actual table.rows tr.odd td:first-child::before{content:"✗"}
table.wide{width:100%}
table.wide td{padding-top:10px;padding-bottom:10px}
svg{display:block;max-width:100%}
svg text{font-family:var(--mono);fill:var(--ink)}
.line .narrow{display:none}
.line{margin:20px 0 0}
.line svg{max-width:none}
.lane{stroke:var(--rule);stroke-width:1.5}
.open{stroke:var(--ink);stroke-width:2.5;stroke-linecap:round}
.dot{fill:var(--ink);stroke:var(--paper);stroke-width:2}
.dot.note{fill:var(--paper);stroke:var(--faint);stroke-width:1.5}
.dot.bad{fill:var(--wrong)}
.wait{stroke:var(--faint);stroke-width:1}
.hatch{stroke:var(--faint);stroke-width:1.5}
.hatched{fill:var(--paper)}
.woke{fill:none;stroke:var(--faint);stroke-width:1.25}
.arrow{fill:var(--faint)}
.view{fill:none;stroke:var(--soft);stroke-width:1.25;stroke-dasharray:2 3}
.shot{fill:var(--paper);stroke:var(--ink);stroke-width:1.5}
.view.bad{stroke:var(--wrong)}
.shot.bad{stroke:var(--wrong)}
svg .num{fill:var(--faint);font-size:12px}
svg .sql{font-size:13px}
svg .said{font-size:12.5px;fill:var(--soft)}
svg .name{font-size:13px;font-weight:700}
svg .bad-text{fill:var(--wrong);font-weight:600}
svg .error-text{fill:var(--ink)}
.legend{display:flex;flex-wrap:wrap;gap:6px 24px;margin:18px 0 0;padding:0;list-style:none;font-size:13px;color:var(--soft)}
.legend svg{display:inline-block;vertical-align:-4px;margin-right:7px}
details{margin:14px 0 0}
summary{cursor:pointer;color:var(--soft);font-size:14px}
summary:hover{color:var(--ink)}
details>pre,details>table,details>ul,details>.plain{margin-top:12px}
.chain{display:flex;flex-wrap:wrap;align-items:stretch;gap:10px 30px;margin:0 0 22px;padding:0;list-style:none}
.chain>li{position:relative;background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:9px 14px 8px;min-width:0}
.chain>li+li::before{content:"→";position:absolute;left:-23px;top:50%;transform:translateY(-50%);color:var(--faint)}
.chain .values{font-family:var(--mono);font-size:13px;overflow-wrap:anywhere}
.chain .by{display:block;font-size:12.5px;color:var(--soft);margin-top:2px}
.chain .undone .values{text-decoration:line-through;color:var(--faint)}
.chain .deleted .values{color:var(--soft);font-style:italic}
.chain .seen{border-color:var(--ink);box-shadow:inset 0 0 0 .5px var(--ink)}
.chain .tag{display:block;font-size:12.5px;font-weight:600;margin-top:2px}
.files{margin:16px 0 0;border-top:1px solid var(--rule)}
.file{border-bottom:1px solid var(--rule)}
.file details{margin:0}
.file summary{display:flex;align-items:baseline;gap:14px;padding:13px 0;color:var(--ink);font-size:15px;list-style:none}
.file summary::-webkit-details-marker{display:none}
.file summary::before{content:"›";color:var(--faint);width:8px;transition:transform .12s}
.file details[open] summary::before{transform:rotate(90deg)}
.file .about{color:var(--soft);font-size:14px;flex:1;min-width:0}
.file pre{margin:0 0 18px}
.checks{margin:16px 0 0;padding:0;list-style:none;border-top:1px solid var(--rule);max-width:52em}
.checks li{display:grid;grid-template-columns:28px 1fr;padding:12px 0;border-bottom:1px solid var(--rule)}
.checks .sign{font:700 14px/26px var(--mono);color:var(--faint)}
.what .pill{margin-top:5px}
.checks .passed .sign{color:var(--right)}
.checks .failed .sign,.checks .failed .state{color:var(--wrong)}
.checks b{font-weight:600}
.checks .state{color:var(--soft);font-size:13px;margin-left:10px}
.checks p{margin:2px 0 0;font-size:15px;color:var(--soft);overflow-wrap:anywhere}
.checks .failed p,.checks .unknown p{color:var(--ink)}
button{font:600 13px/1 var(--sans);color:var(--ink);background:var(--wash);border:0;border-radius:99px;padding:8px 14px;cursor:pointer}
button:hover{background:var(--rule)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(140px,1fr));gap:24px;margin:36px 0 8px}
.fact b{display:block;font-size:28px;line-height:1.2;font-weight:620;letter-spacing:-.01em}
.fact span{color:var(--soft);font-size:14px}
.plots{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:44px 48px;margin-top:8px}
.plot h3{margin:0 0 2px}
.plot p{font-size:14px;color:var(--soft);margin:0 0 12px}
.plot svg text{font-family:var(--sans);font-size:12px;fill:var(--soft)}
.plot svg .value{fill:var(--ink)}
.axis{stroke:var(--rule);stroke-width:1}
.curve{fill:none;stroke:var(--fill);stroke-width:2}
.area{fill:var(--fill);opacity:.14}
.bar{fill:var(--fill)}
.bar.bad{fill:var(--wrong)}
.curve.bad{stroke:var(--wrong)}
.point{fill:var(--fill)}
.point.bad{fill:var(--wrong)}
.track{fill:var(--wash)}
.features{columns:3;column-gap:40px;margin-top:12px}
.features div{break-inside:avoid;display:grid;grid-template-columns:1fr 64px 44px;gap:10px;align-items:center;font-size:13px;line-height:1.9}
.features i{display:block;height:5px;border-radius:3px;background:var(--wash);overflow:hidden}
.features i b{display:block;height:100%;background:var(--fill)}
.features .n{text-align:right;color:var(--soft)}
.zero{color:var(--faint)}
footer{margin-top:80px;padding-top:18px;border-top:1px solid var(--rule);font-size:13px;color:var(--soft)}
@media (max-width:760px){
main{padding:28px 16px 64px}
nav{margin-bottom:24px}
h1{font-size:25px}
h2{margin-top:48px}
.pair,.plots{grid-template-columns:1fr}
.plots{gap:40px}
.line .wide{display:none}
.line .narrow{display:block}
.features{columns:1}
.facts{grid-template-columns:1fr 1fr;gap:18px}
.fact b{font-size:23px}
.chain{flex-direction:column;gap:24px}
.chain>li+li::before{content:"↓";left:18px;top:-23px;transform:none}
table.fold thead{display:none}
table.fold tr{display:block;padding:12px 0}
table.fold td{display:inline-block;padding:0 12px 0 0}
table.fold td.what{display:block}
table.fold td[data-before]::before{content:attr(data-before);color:var(--soft)}
table.fold td[data-after]::after{content:attr(data-after);color:var(--soft)}
.plot svg text{font-size:14px}
.file .about{display:none}
.file summary .label{flex:1}
}
@media print{button{display:none}main{padding:0}}
"#;

/// The script of every page.
pub const SCRIPT: &str = r#"
document.addEventListener("click",function(event){
var button=event.target.closest("button[data-copy]");
if(!button)return;
event.preventDefault();
var text=document.getElementById(button.dataset.copy).textContent;
var done=function(){var old=button.textContent;button.textContent="Copied";setTimeout(function(){button.textContent=old},1200)};
var byHand=function(){var area=document.createElement("textarea");area.value=text;document.body.appendChild(area);area.select();
try{document.execCommand("copy");done()}finally{area.remove()}};
if(navigator.clipboard&&navigator.clipboard.writeText){navigator.clipboard.writeText(text).then(done,byHand)}else{byHand()}
});
"#;
