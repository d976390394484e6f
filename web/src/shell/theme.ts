/** The chosen theme; `system` follows the operating system. */
export type Theme = 'light' | 'dark' | 'system'

const storageKey = 'roost.theme'
const themes: readonly string[] = ['light', 'dark', 'system']

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(storageKey)
  // Checked against the list of themes.
  return stored !== null && themes.includes(stored) ? (stored as Theme) : 'system'
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(storageKey, theme)
  show()
}

/** Applies the theme now, and again when the choice or the system setting changes. */
export function followTheme(): void {
  show()
  systemIsDark().addEventListener('change', show)
  window.addEventListener('storage', ({ key }) => {
    if (key === storageKey) show()
  })
}

function show(): void {
  const theme = chosenTheme()
  const isDark = theme === 'dark' || (theme === 'system' && systemIsDark().matches)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
}

function systemIsDark(): MediaQueryList {
  return matchMedia('(prefers-color-scheme: dark)')
}
