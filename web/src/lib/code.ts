/** A part of the application whose files did not arrive, after all attempts. */
export class CodeNotLoaded extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'CodeNotLoaded'
  }
}

export type CodeSetting = {
  wait(ms: number): Promise<void>
  /** The status of a file of the application; null when nobody answered. */
  statusOf(url: string): Promise<number | null>
}

/**
 * Fetches a part of the application. Browsers drop what is under way whenever the machine's network changes,
 * and on the machine that runs the agents it changes with each that starts: so it is fetched again, for
 * about 15 s. Throws `CodeNotLoaded`; at once when the file is gone, as after the platform was renewed.
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

/** Most browsers name the file that they missed. */
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
