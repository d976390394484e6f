import type { Objects } from './objects.ts'
import { DiffTooLarge, maxDiffBytes, type StoredEntry, type TextDiff } from './port.ts'
import type { GitProgram } from './program.ts'

/** Like git: a zero byte near the start means that the content is not text. */
const inspectedBytes = 8000
/** Both sides in full, with a sign for each line. */
const maxOutputBytes = 6 * maxDiffBytes
const maxMs = 5000

/** Compares contents of agents: by their objects only, so no attribute, filter or path of the content has an effect. */
export function createTextDiff(git: GitProgram, objects: Objects) {
  async function contentOf(entry: StoredEntry | null): Promise<Buffer> {
    if (!entry || entry.kind === 'folder') return Buffer.alloc(0)
    const found = await objects.find(entry.content)
    if (!found) throw new Error(`The object ${entry.content} is missing in the history.`)
    if (found.size > maxDiffBytes) throw new DiffTooLarge()
    return (await objects.read(entry.content)) ?? Buffer.alloc(0)
  }

  return async (before: StoredEntry | null, after: StoredEntry | null): Promise<TextDiff> => {
    const [old, now] = [await contentOf(before), await contentOf(after)]
    if (isBinary(old) || isBinary(now)) return { isBinary: true }
    if (old.equals(now)) return { isBinary: false, text: '' }
    if (old.length === 0) return { isBinary: false, text: wholeFile('+', now) }
    if (now.length === 0) return { isBinary: false, text: wholeFile('-', old) }
    return { isBinary: false, text: await compared(before?.content ?? '', after?.content ?? '') }
  }

  async function compared(before: string, after: string): Promise<string> {
    const { child, ended, kill } = git.start([
      ...['-c', 'core.attributesFile=/dev/null', 'diff', '--text', '--unified=3', '--no-color'],
      ...['--no-ext-diff', '--no-textconv', '--no-renames', '--no-indent-heuristic', before, after],
    ])
    const chunks: Buffer[] = []
    let length = 0
    let isTooLarge = false
    const stop = () => {
      isTooLarge = true
      kill()
    }
    const timer = setTimeout(stop, maxMs)
    child.stdin.end()
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > maxOutputBytes) stop()
      else chunks.push(chunk)
    })
    const fault = await ended.finally(() => clearTimeout(timer))
    if (isTooLarge) throw new DiffTooLarge()
    if (fault !== null) throw new Error(`git diff failed: ${fault}`)
    const text = Buffer.concat(chunks).toString('utf8')
    // The lines before it name objects.
    return text.slice(Math.max(0, text.indexOf('@@')))
  }
}

function isBinary(content: Buffer): boolean {
  return content.subarray(0, inspectedBytes).includes(0)
}

/** All lines of a file that was added or deleted. */
function wholeFile(sign: '+' | '-', content: Buffer): string {
  const text = content.toString('utf8')
  const lines = text.replace(/\n$/, '').split('\n')
  const range = `1,${lines.length}`
  const place = sign === '+' ? `@@ -0,0 +${range} @@` : `@@ -${range} +0,0 @@`
  const end = text.endsWith('\n') ? '' : '\n\\ No newline at end of file'
  return `${place}\n${lines.map((line) => `${sign}${line}`).join('\n')}${end}\n`
}
