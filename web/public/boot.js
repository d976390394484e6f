/**
 * Runs before the application and stands on its own: when one of the files that the page begins with does not
 * arrive, the page is fetched again as soon as the platform answers. Browsers drop what is under way when the
 * machine's network changes, and with an empty page there is nobody to press a button.
 */
;(() => {
  const key = 'roost.boot'
  const mostAttempts = 8
  let hasFailed = false

  addEventListener(
    'error',
    ({ target }) => {
      const isScript = target instanceof HTMLScriptElement
      const isStyle = target instanceof HTMLLinkElement && target.rel === 'stylesheet'
      // Once the application runs it cares for its later files itself.
      if (hasFailed || !(isScript || isStyle) || document.readyState === 'complete') return
      hasFailed = true
      const attempt = Number(sessionStorage.getItem(key) ?? 0) + 1
      if (attempt > mostAttempts) {
        sessionStorage.removeItem(key)
        const root = document.getElementById('root')
        if (root) root.textContent = 'Roost could not be loaded: files of the application are missing.'
        return
      }
      sessionStorage.setItem(key, String(attempt))
      againAfter(Math.min(15_000, 250 * 2 ** attempt))
    },
    true,
  )
  addEventListener('load', () => {
    if (!hasFailed) sessionStorage.removeItem(key)
  })

  // Chromium offers the installation before the application listens.
  addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault()
    window.roostInstall = event
  })

  function againAfter(ms) {
    setTimeout(() => {
      fetch('/health', { cache: 'no-store' }).then(
        () => location.reload(),
        () => againAfter(Math.min(15_000, ms * 2)),
      )
    }, ms)
  }
})()
