/* A page that is opened from disk may start no Web Worker, and the search runs in one. Such a page
   runs the worker's script in a hidden frame instead. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.onmessage = this.onerror = null
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.appendChild(this.frame)
      const inner = this.frame.contentDocument
      inner.open()
      inner.write("<!doctype html><body><script>" +
        "var postMessage = data => parent.postMessage(data, '*');" +
        "var importScripts = () => { throw new Error('not on a page from disk') }" +
        "<" + "/script><script src='" + new URL(url, location.href) + "'><" + "/script>")
      this.loaded = new Promise(resolve => { this.frame.onload = resolve })
      inner.close()
      this.heard = event => {
        if (event.source !== this.frame.contentWindow) return
        event.stopImmediatePropagation()
        const told = new MessageEvent("message", { data: event.data })
        this.dispatchEvent(told)
        if (this.onmessage) this.onmessage(told)
      }
      window.addEventListener("message", this.heard, true)
    }
    postMessage(data) {
      this.loaded.then(() => {
        this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }))
      })
    }
    terminate() {
      window.removeEventListener("message", this.heard, true)
      this.frame.remove()
    }
  }
}
