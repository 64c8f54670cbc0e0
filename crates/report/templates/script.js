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
