import type { DiagramSource } from './diagram-source.ts'

/** Draws diagrams in a worker: layout time is unpredictable, and only a worker can be terminated. */
export type DiagramRequest = { source: DiagramSource; colours: DiagramColours }
export type DiagramColours = {
  bg: string
  fg: string
  line: string
  accent: string
  muted: string
  surface: string
  border: string
}
export type DiagramAnswer = { svg: string } | { problem: string }

self.addEventListener('message', async ({ data }: MessageEvent<DiagramRequest>) => {
  self.postMessage(await drawn(data))
})

async function drawn({ source: { text, arrows }, colours }: DiagramRequest): Promise<DiagramAnswer> {
  try {
    // Without a document the layout engine acts as a worker itself and never answers, and its caller assigns
    // to `self`, which is read-only here.
    Object.defineProperties(self, {
      document: { value: {}, configurable: true },
      self: { value: self, writable: true, configurable: true },
    })
    const { parseMermaid, renderMermaidSVG } = await import('beautiful-mermaid')
    // The library drops unknown arrows silently; an incomplete diagram would be misleading.
    if (arrows !== null && parseMermaid(text).edges.length < arrows) {
      return { problem: 'The diagram contains arrow types that are not supported.' }
    }
    return { svg: renderMermaidSVG(text, { ...colours, font: 'Inter', padding: 16, transparent: true }) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}
