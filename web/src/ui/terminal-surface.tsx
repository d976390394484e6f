import '@xterm/xterm/css/xterm.css'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal as Emulator, type ITheme } from '@xterm/xterm'
import { useEffect, useRef, useState } from 'react'
import { cspNonce } from '../lib/csp.ts'
import { useLatest } from './use-latest.ts'
import { withNonce } from './with-nonce.ts'

/** The output side of a terminal. */
export type Screen = { write(bytes: Uint8Array): void }
/** The connection of a terminal. */
export type Line = { type(bytes: Uint8Array): void; resize(cols: number, rows: number): void; close(): void }

export type TerminalSurfaceProps = {
  label: string
  /** Called once the terminal is ready. The returned line is closed on unmount. */
  connect(screen: Screen): Line
  /** Mirrors the text for screen readers, which is slow for heavy output. */
  isReadAloud: boolean
}

/** Limit of unrendered output in bytes: a hidden tab renders slower than a program writes. */
const behindMost = 8 * 1024 * 1024
const leftOut = '\r\n\u001b[7m … output omitted … \u001b[0m\r\n'

/** The terminal itself, fitted to the available space. */
export function TerminalSurface(props: TerminalSurfaceProps) {
  const { label, isReadAloud } = props
  const host = useRef<HTMLDivElement>(null)
  const latest = useLatest(props)
  const [emulator, setEmulator] = useState<Emulator | null>(null)

  useEffect(() => {
    const shown = host.current
    if (!shown) return
    const opened = new Emulator({
      fontFamily: getComputedStyle(shown).fontFamily,
      fontSize: 13,
      scrollback: 5000,
      // Programs choose colours for a dark or light background without knowing which one it is.
      minimumContrastRatio: 4.5,
      theme: themeOf(shown),
    })
    const fit = new FitAddon()
    opened.loadAddon(fit)
    withNonce(document, cspNonce(), () => opened.open(shown))
    const line = latest.current.connect({ write: screenOf(opened) })
    const encoder = new TextEncoder()
    opened.onData((keys) => line.type(encoder.encode(keys)))
    opened.onBinary((keys) => line.type(Uint8Array.from(keys, (key) => key.charCodeAt(0))))
    opened.onResize(({ cols, rows }) => line.resize(cols, rows))
    opened.attachCustomKeyEventHandler(leavingKeys(opened))
    const room = new ResizeObserver(() => fit.fit())
    room.observe(shown)
    const theme = new MutationObserver(() => {
      opened.options.theme = themeOf(shown)
    })
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    fit.fit()
    line.resize(opened.cols, opened.rows)
    opened.focus()
    setEmulator(opened)
    return () => {
      room.disconnect()
      theme.disconnect()
      line.close()
      opened.dispose()
    }
  }, [latest])

  useEffect(() => {
    emulator?.textarea?.setAttribute('aria-label', label)
    if (emulator) emulator.options.screenReaderMode = isReadAloud
  }, [emulator, label, isReadAloud])

  return <div ref={host} className="absolute inset-2 font-mono" />
}

function screenOf(emulator: Emulator): Screen['write'] {
  let behind = 0
  let isLeavingOut = false
  return (bytes) => {
    if (behind > behindMost) {
      if (!isLeavingOut) emulator.write(leftOut)
      isLeavingOut = true
      return
    }
    isLeavingOut = false
    behind += bytes.length
    emulator.write(bytes, () => {
      behind -= bytes.length
    })
  }
}

/** Returns false for keys that belong to the browser. */
function leavingKeys(emulator: Emulator): (event: KeyboardEvent) => boolean {
  let wasEscape = false
  return (event) => {
    if (event.type !== 'keydown') return true
    const isLeaving = wasEscape && event.key === 'Tab'
    // Shift alone is ignored, because it may begin Shift-Tab.
    if (event.key !== 'Shift') wasEscape = event.key === 'Escape'
    if (isLeaving) return false
    const isCopy = event.ctrlKey && event.shiftKey && event.code === 'KeyC' && emulator.hasSelection()
    if (!isCopy) return true
    event.preventDefault()
    void navigator.clipboard.writeText(emulator.getSelection())
    return false
  }
}

function themeOf(element: Element): ITheme {
  const style = getComputedStyle(element)
  const token = (name: string) => style.getPropertyValue(`--color-${name}`).trim()
  return {
    background: token('surface'),
    foreground: token('ink'),
    cursor: token('accent'),
    cursorAccent: token('surface'),
    selectionBackground: token('accent-soft'),
    selectionForeground: token('ink'),
  }
}
