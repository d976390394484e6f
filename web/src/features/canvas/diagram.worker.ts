import type { DiagramSource } from './diagram-source.ts'

/**
 * Draws diagrams beside the page: how long the layout of a large one takes is known only to those who have waited,
 * and only a worker can be ended in the middle of it.
 */
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
    // Where there is no document the layout engine takes itself for a worker of its own, and answers nobody; and what
    // calls it writes to `self`, which a worker may only read.
    Object.defineProperties(self, {
      document: { value: {}, configurable: true },
      self: { value: self, writable: true, configurable: true },
    })
    const { parseMermaid, renderMermaidSVG } = await import('beautiful-mermaid')
    // What the library does not know it leaves out; a picture that lacks something would say what is not so.
    if (arrows !== null && parseMermaid(text).edges.length < arrows) {
      return { problem: 'It has arrows of a kind that is not known here.' }
    }
    return { svg: renderMermaidSVG(text, { ...colours, font: 'Inter', padding: 16, transparent: true }) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}
