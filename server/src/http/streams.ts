/** Responses that last as long as the client reads. A stop of the platform does not wait for them. */
export type OpenStreams = {
  /** Call the result when the response has ended. After `endAll` it ends immediately. */
  add(end: () => void): () => void
  endAll(): void
}

export function createStreams(): OpenStreams {
  const open = new Set<() => void>()
  let isStopped = false
  return {
    add(end) {
      if (isStopped) end()
      else open.add(end)
      return () => void open.delete(end)
    },
    endAll() {
      isStopped = true
      for (const end of [...open]) end()
    },
  }
}
