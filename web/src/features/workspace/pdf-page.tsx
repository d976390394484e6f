import type { PDFDocumentProxy } from 'pdfjs-dist'
import { useEffect, useRef, useState } from 'react'
import { useNear } from '../../ui/use-near.ts'

type PdfPageProps = {
  document: PDFDocumentProxy
  number: number
  /** Width by height of the first page, until this page is read. */
  ratio: number
}

/** In pixels of the canvas. */
const mostPixels = 8_000_000
/** In characters, for screen readers. */
const mostText = 20_000

/** One page as a picture, with its text for screen readers. */
export function PdfPage({ document: pdf, number, ratio }: PdfPageProps) {
  const { ref, isNear } = useNear<HTMLDivElement>(number === 1)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [text, setText] = useState<string | null>(null)
  const [isBroken, setBroken] = useState(false)
  useEffect(() => {
    if (!isNear) return
    let isCurrent = true
    let cancel = () => {}
    const draw = async () => {
      const page = await pdf.getPage(number)
      const target = canvas.current
      if (!isCurrent || !target) return
      const whole = page.getViewport({ scale: 1 })
      const wanted = (target.clientWidth * devicePixelRatio) / whole.width
      const scale = Math.min(wanted, Math.sqrt(mostPixels / (whole.width * whole.height)))
      const viewport = page.getViewport({ scale })
      target.width = Math.max(1, Math.floor(viewport.width))
      target.height = Math.max(1, Math.floor(viewport.height))
      const drawing = page.render({ canvas: target, viewport })
      cancel = () => drawing.cancel()
      await drawing.promise
      const { items } = await page.getTextContent()
      if (isCurrent)
        setText(
          items
            .map((item) => ('str' in item ? item.str : ''))
            .join(' ')
            .slice(0, mostText),
        )
    }
    draw().catch(() => isCurrent && setBroken(true))
    return () => {
      isCurrent = false
      cancel()
    }
  }, [pdf, number, isNear])
  return (
    <div ref={ref} className="min-w-0">
      {isBroken ? (
        <p className="text-muted text-sm">Page {number} cannot be shown.</p>
      ) : (
        <>
          <canvas
            ref={canvas}
            role="img"
            aria-label={`Page ${number}`}
            style={text === null ? { aspectRatio: ratio } : undefined}
            className="block h-auto w-full rounded-sm bg-white shadow-xs"
          />
          {text && <p className="sr-only">{text}</p>}
        </>
      )}
    </div>
  )
}
