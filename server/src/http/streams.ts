/** Replies that last as long as their reader likes; a stop of the platform does not wait for readers. */
export type OpenStreams = {
  /** Call the result when the reply has ended. After `endAll` it is ended at once. */
  add(end: () => void): () => void
  endAll(): void
}

export function createStreams(): OpenStreams {
  const open = new Set<() => void>()
  let isOver = false
  return {
    add(end) {
      if (isOver) end()
      else open.add(end)
      return () => void open.delete(end)
    },
    endAll() {
      isOver = true
      for (const end of [...open]) end()
    },
  }
}
