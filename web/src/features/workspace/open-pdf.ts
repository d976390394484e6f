import { getDocument, type PDFDocumentProxy, PDFWorker } from 'pdfjs-dist'

/** In pixels. Larger pictures inside a file are left out. */
const largestImage = 40_000_000

export type OpenPdf = { document: Promise<PDFDocumentProxy>; close(): void }

/**
 * Reads a PDF file that an agent may have written: in a worker of its own, from memory, without forms, scripts and
 * requests. Closing ends the worker, also in the middle of its work.
 */
export function openPdf(data: Uint8Array): OpenPdf {
  const port = new Worker(new URL('./pdf.worker.ts', import.meta.url), { type: 'module' })
  const worker = PDFWorker.create({ port })
  const task = getDocument({
    data,
    worker,
    verbosity: 0,
    enableXfa: false,
    useWasm: false,
    useWorkerFetch: false,
    disableWorkerRendering: true,
    maxImageSize: largestImage,
  })
  return {
    document: task.promise,
    close() {
      void task.destroy().catch(() => {})
      worker.destroy()
      port.terminate()
    },
  }
}
