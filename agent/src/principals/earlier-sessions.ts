import { access, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { quote } from '../processes/tree.ts'

/** Marks a state folder in which earlier versions kept the conversations of all people. */
const mark = '.all-people'

export const markShared = (state: string) => writeFile(join(state, mark), '')

const maxEntries = 50_000

/**
 * Copies the files of a conversation out of the state that all people once shared. Returns the shell code that
 * puts them into the person's own state, unless it has them already.
 */
export async function earlierSession(
  { shared, runtime }: { shared: string; runtime: string },
  sessionId: string,
  { state, scratch }: { state: string; scratch: string },
): Promise<string> {
  const isShared = await access(join(shared, mark)).then(
    () => true,
    () => false,
  )
  if (!isShared) return ''
  const from = join(shared, runtime)
  const to = join(scratch, 'earlier-session')
  for (const path of await filesOf(from, sessionId)) {
    const target = join(to, relative(from, path))
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, await readFile(path))
  }
  return `mkdir -p ${quote(state)}; [ ! -d ${quote(to)} ] || cp -Rn ${quote(`${to}/.`)} ${quote(state)}`
}

/** Runtimes name the files of a session by its id, or by the id's first part. */
async function filesOf(folder: string, sessionId: string): Promise<string[]> {
  if (!/^[\w-]+$/.test(sessionId)) return []
  const ids = [sessionId, sessionId.slice(0, 8)]
  const isOfSession = (name: string) => ids.some((id) => new RegExp(`(^|-)${id}[.]\\w+$`).test(name))
  const found: string[] = []
  let left = maxEntries
  const walk = async (path: string) => {
    for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
      left -= 1
      if (left < 0) return
      if (entry.isDirectory()) await walk(join(path, entry.name))
      else if (entry.isFile() && isOfSession(entry.name)) found.push(join(path, entry.name))
    }
  }
  await walk(folder)
  return found
}
