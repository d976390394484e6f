import type Docker from 'dockerode'
import { engineLines } from './stream.ts'

export type PullOptions = {
  docker: Docker
  image: string
  onProgress: (text: string) => void
  signal?: AbortSignal
  /** Silence after which a registry counts as unreachable. */
  silenceMs?: { first: number; later: number }
}

/** Pulls an image from its registry; fails with the engine's message. */
export async function pull(options: PullOptions): Promise<void> {
  const { docker, image, onProgress, silenceMs = { first: 10_000, later: 120_000 } } = options
  const controller = new AbortController()
  const cancel = () => controller.abort(new Error('cancelled'))
  options.signal?.addEventListener('abort', cancel, { once: true })
  const onSilence = () => controller.abort(new Error(`the registry of ${image} does not answer`))
  let timer = setTimeout(onSilence, silenceMs.first)
  try {
    const answer = await docker.pull(image, { abortSignal: controller.signal })
    const done = new Map<string, { current: number; total: number }>()
    for await (const line of engineLines(answer)) {
      clearTimeout(timer)
      timer = setTimeout(onSilence, silenceMs.later)
      if (line.error) throw new Error(line.error)
      const { current, total } = line.progressDetail ?? {}
      if (!line.id || !total || line.status !== 'Downloading') continue
      done.set(line.id, { current: current ?? 0, total })
      onProgress(`Fetching ${image}: ${megabytes(done, 'current')} of ${megabytes(done, 'total')} MB`)
    }
  } catch (error) {
    // An aborted request fails with the library's message; the reason is more precise.
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', cancel)
  }
}

function megabytes(
  layers: Map<string, { current: number; total: number }>,
  which: 'current' | 'total',
): number {
  return Math.round([...layers.values()].reduce((sum, layer) => sum + layer[which], 0) / 1e6)
}
