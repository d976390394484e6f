import type { DiagramAnswer, DiagramColours, DiagramRequest } from './diagram.worker.ts'
import { readDiagram } from './diagram-source.ts'

/** Time limit in milliseconds. A diagram that needs longer is unreadable anyway. */
const patienceMs = 8000

/** Ends with the diagram before. An answer may contain hundreds of diagrams, and each needs a worker. */
let before: Promise<unknown> = Promise.resolve()

/** The diagram as an SVG document; diagrams are drawn one at a time. Throws for unsupported ones and on timeout. */
export function drawDiagram(source: string, colours: DiagramColours, signal: AbortSignal): Promise<string> {
  const drawing = before.then(() => {
    signal.throwIfAborted()
    return draw(source, colours, signal)
  })
  before = drawing.catch(() => {})
  return drawing
}

async function draw(source: string, colours: DiagramColours, signal: AbortSignal): Promise<string> {
  const worker = new Worker(new URL('./diagram.worker.ts', import.meta.url), { type: 'module' })
  try {
    const request: DiagramRequest = { source: readDiagram(source), colours }
    const answer = await new Promise<DiagramAnswer>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<DiagramAnswer>) => resolve(data)
      worker.onerror = () => reject(new Error('The drawing code could not be loaded.'))
      AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]).addEventListener('abort', () =>
        reject(new Error('Drawing timed out.')),
      )
      worker.postMessage(request)
    })
    if ('problem' in answer) throw new Error(answer.problem)
    return answer.svg
  } finally {
    worker.terminate()
  }
}

/** The colours of the current theme, because an image cannot inherit them. */
export function themeColours(root: Element = document.documentElement): DiagramColours {
  const style = getComputedStyle(root)
  const of = (name: string) => style.getPropertyValue(`--color-${name}`).trim()
  return {
    bg: of('surface'),
    fg: of('ink'),
    line: of('muted'),
    accent: of('accent'),
    muted: of('muted'),
    surface: of('sunken'),
    border: of('line-strong'),
  }
}
