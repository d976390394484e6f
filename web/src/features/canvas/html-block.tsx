import { useEffect, useState } from 'react'
import { cspNonce } from '../../lib/csp.ts'
import { useThemeName } from '../../ui/use-theme-name.ts'

/**
 * HTML of an agent in a sandboxed frame without scripts; the platform has already sanitized it.
 * `allow-same-origin` lets the page measure the height.
 */
export function HtmlBlock({ html, label }: { html: string; label: string }) {
  const theme = useThemeName()
  const [frame, setFrame] = useState<HTMLIFrameElement | null>(null)
  const [height, setHeight] = useState(80)
  const [loads, setLoads] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a reloaded frame has a new document
  useEffect(() => {
    const root = frame?.contentDocument?.documentElement
    if (!root) return
    const observer = new ResizeObserver(() => setHeight(Math.min(root.offsetHeight, 20_000)))
    observer.observe(root)
    return () => observer.disconnect()
  }, [frame, loads])
  return (
    <iframe
      // The frame keeps the colours it was loaded with.
      key={theme}
      ref={setFrame}
      title={label}
      sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
      referrerPolicy="no-referrer"
      srcDoc={documentOf(html)}
      onLoad={() => setLoads((before) => before + 1)}
      style={{ height }}
      className="block w-full border-0"
    />
  )
}

function documentOf(html: string): string {
  const lang = document.documentElement.lang || 'en'
  return `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><title>HTML</title><style nonce="${cspNonce()}">${styles()}</style></head><body><main>${html}</main></body></html>`
}

/** The page's own style: classes and styles of the HTML itself were removed. */
function styles(): string {
  const page = getComputedStyle(document.documentElement)
  const of = (name: string) => page.getPropertyValue(`--color-${name}`).trim()
  return `
:root { color-scheme: ${document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light'}; }
body { margin: 0; background: ${of('surface')}; color: ${of('ink')}; font: 14px/1.55 "Inter Variable", system-ui, sans-serif; overflow-wrap: anywhere; }
main { display: flow-root; overflow-x: auto; }
main > :first-child { margin-top: 0; } main > :last-child { margin-bottom: 0; }
h1, h2, h3, h4, h5, h6 { line-height: 1.3; margin: 1.2em 0 0.5em; } h1 { font-size: 20px; } h2 { font-size: 17px; } h3, h4, h5, h6 { font-size: 15px; }
p, ul, ol, dl, table, pre, blockquote, figure { margin: 0 0 0.8em; }
a { color: ${of('accent')}; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid ${of('line')}; padding: 5px 10px; text-align: left; vertical-align: top; }
th { color: ${of('muted')}; font-weight: 500; }
[align=right] { text-align: right; } [align=center] { text-align: center; }
code, pre, kbd, samp { font: 12px/1.6 "JetBrains Mono Variable", ui-monospace, monospace; }
pre { background: ${of('sunken')}; border-radius: 6px; overflow-x: auto; padding: 8px 12px; }
blockquote { border-left: 2px solid ${of('line-strong')}; color: ${of('muted')}; margin-left: 0; padding-left: 12px; }
mark { background: ${of('warning-soft')}; color: ${of('warning')}; }
hr { border: 0; border-top: 1px solid ${of('line')}; } img { height: auto; max-width: 100%; } figcaption { color: ${of('muted')}; font-size: 12px; }
@media print { :root { color-scheme: light; } body { background: white; color: black; } }`
}
