import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

const changing = [
  'open',
  'mkdir',
  'rename',
  'unlink',
  'rmdir',
  'symlink',
  'chmod',
  'chown',
  'lchown',
] as const
const changingFiles = ['write', 'writeFile', 'truncate', 'sync', 'chmod', 'chown'] as const

type Changing = Record<string, (...args: unknown[]) => Promise<unknown>>

/** Calls `before` ahead of every call of this process that may change a file. */
export async function watchChanges(before: (name: string) => void): Promise<void> {
  const file = await fs.open('/dev/null')
  watch(Object.getPrototypeOf(file) as Changing, changingFiles, before)
  await file.close()
  watch(fs as unknown as Changing, changing, before)
  syncBuiltinESMExports()
}

function watch(target: Changing, names: readonly string[], before: (name: string) => void): void {
  for (const name of names) {
    const original = target[name]
    if (!original) continue
    target[name] = async function (this: unknown, ...args: unknown[]) {
      before(name)
      return original.apply(this, args)
    }
  }
}
