/** The key that applications of this system use for their commands. */
export function commandKey(): string {
  return /Mac|iP(hone|ad)/.test(navigator.userAgent) ? '⌘' : 'Ctrl'
}

export function paletteKeys(): string[] {
  return [commandKey(), 'K']
}
