/** A part of the application that could not be loaded after all retries. */
export class CodeNotLoaded extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'CodeNotLoaded'
  }
}

export type CodeSetting = {
  wait(ms: number): Promise<void>
  /** The HTTP status of a file of the application; null without a response. */
  statusOf(url: string): Promise<number | null>
}

/**
 * Loads a part of the application, with retries for about 15 s: browsers drop requests when the network
 * changes, as it does on the host whenever an agent starts. Throws `CodeNotLoaded`, without retries for a
 * missing file.
 */
export async function loadCode<T>(load: () => Promise<T>, setting = browserSetting): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await load()
    } catch (error) {
      const url = urlIn(error)
      if (url !== null && (await setting.statusOf(url)) === 404) throw new CodeNotLoaded(error)
      await setting.wait(pauseMs)
    }
  }
  try {
    return await load()
  } catch (error) {
    throw new CodeNotLoaded(error)
  }
}

const pausesMs = [250, 1000, 2000, 4000, 8000]

/** Most browsers name the missing file in the message. */
function urlIn(error: unknown): string | null {
  return error instanceof Error ? (/https?:\/\/\S+/.exec(error.message)?.[0] ?? null) : null
}

const browserSetting: CodeSetting = {
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  statusOf: (url) =>
    fetch(url, { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(10_000) }).then(
      ({ status }) => status,
      () => null,
    ),
}
