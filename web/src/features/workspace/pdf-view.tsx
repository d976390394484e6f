import type { PDFDocumentProxy } from 'pdfjs-dist'
import { type ReactNode, useEffect, useState } from 'react'
import { loadCode } from '../../lib/code.ts'
import { plural } from '../../lib/format.ts'
import { Bytes } from '../../ui/bytes.tsx'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { PdfPage } from './pdf-page.tsx'
import type { FileContent } from './read-file.ts'

export type PdfViewProps = {
  name: string
  file: Extract<FileContent, { kind: 'pdf' }>
  /** Shown for bytes that are not a PDF file, and for one with a password. */
  fallback: ReactNode
}

const mostPages = 200

/** The pages of a PDF file as pictures, each drawn when it comes near the screen. */
export function PdfView({ name, file: { blob, size }, fallback }: PdfViewProps) {
  const state = usePdf(blob)
  if (state === 'broken') return fallback
  if (state === 'loading') {
    return (
      <div className="p-4">
        <SkeletonText lines={8} label={`Loading ${name}`} />
      </div>
    )
  }
  const { document, ratio } = state
  const shown = Math.min(document.numPages, mostPages)
  return (
    <>
      <ScrollRegion
        label={name}
        className="m-4 mb-0 min-h-0 flex-1 overflow-y-auto rounded-md border border-line bg-sunken p-3 -outline-offset-2"
      >
        <div className="mx-auto flex max-w-4xl flex-col gap-3">
          {Array.from({ length: shown }, (_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: pages are identified only by their position
            <PdfPage key={index} document={document} number={index + 1} ratio={ratio} />
          ))}
        </div>
      </ScrollRegion>
      <p className="flex shrink-0 flex-wrap gap-x-4 px-4 py-2 text-muted text-xs">
        <Bytes bytes={size} />
        <span data-numeric>{plural(document.numPages, 'page')}</span>
        {shown < document.numPages && <span>Only the first {shown} pages are shown.</span>}
      </p>
    </>
  )
}

type PdfState = 'loading' | 'broken' | { document: PDFDocumentProxy; ratio: number }

function usePdf(blob: Blob): PdfState {
  const [state, setState] = useState<PdfState>('loading')
  useEffect(() => {
    let close = () => {}
    let isClosed = false
    const open = async () => {
      const [{ openPdf }, data] = await Promise.all([
        loadCode(() => import('./open-pdf.ts')),
        blob.arrayBuffer(),
      ])
      if (isClosed) return
      const pdf = openPdf(new Uint8Array(data))
      close = pdf.close
      const document = await pdf.document
      const { width, height } = (await document.getPage(1)).getViewport({ scale: 1 })
      if (!isClosed) setState({ document, ratio: width / height })
    }
    open().catch(() => !isClosed && setState('broken'))
    return () => {
      isClosed = true
      setState('loading')
      close()
    }
  }, [blob])
  return state
}
