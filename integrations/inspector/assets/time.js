// The slider over the journal. Without this script, its button and the links do the same.
"use strict";

const slider = document.getElementById("at");
const form = document.getElementById("travel");

if (slider && form) {
  let asked = slider.value; // the entry that is wanted
  let loading = false;

  // load shows the wanted entry. While one is on its way, only the last wish counts.
  const load = async () => {
    if (loading) return;
    loading = true;
    try {
      for (let at = ""; at !== asked;) {
        at = asked;
        const address = new URL(form.action);
        address.searchParams.set("at", at);
        const seat = form.elements.namedItem("seat");
        if (seat) address.searchParams.set("seat", seat.value);
        const response = await fetch(address, { headers: { Accept: "text/html" } });
        if (!response.ok) throw new Error(response.statusText);
        show(new DOMParser().parseFromString(await response.text(), "text/html"), address);
      }
    } catch (err) {
      document.getElementById("moment-title").textContent = "The entry could not be loaded: " + err.message;
    } finally {
      loading = false;
    }
  };

  // show replaces the moment by that of another page. The slider keeps its focus.
  const show = (page, address) => {
    const focus = document.activeElement && document.activeElement.id;
    const open = document.getElementById("path").open;
    document.getElementById("moment").replaceWith(page.getElementById("moment"));
    document.getElementById("path").open = open;
    const other = page.getElementById("at");
    slider.max = other.max;
    slider.setAttribute("aria-valuetext", other.getAttribute("aria-valuetext"));
    history.replaceState(null, "", address);
    if (focus && focus !== "at") (document.getElementById(focus) || slider).focus();
  };

  slider.addEventListener("input", () => { asked = slider.value; load(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); load(); });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#first, #previous, #next, #last, #entries a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    asked = slider.value = new URL(link.href).searchParams.get("at");
    load();
  });
}
