import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** A forbidden wording; `instead` suggests a plain one. */
export type Phrase = { pattern: RegExp; instead: string }

const ignored = new Set(['node_modules', 'dist', '.roost', 'artifacts', 'data'])

/** Lists the Markdown and source files in the given files and folders, relative to the root. */
export function listTexts(root: string, paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const full = join(root, path)
    if (!existsSync(full)) return []
    if (!statSync(full).isDirectory()) return [path]
    const entries = readdirSync(full, { withFileTypes: true }).filter(({ name }) => !ignored.has(name))
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name))
    const texts = entries.filter((entry) => entry.isFile() && /\.(md|tsx?|html)$/.test(entry.name))
    return [...texts.map(({ name }) => join(path, name)), ...listTexts(root, folders)]
  })
}

/** Returns one problem per line and phrase. Also finds a phrase that is split over two lines. */
export function phraseProblems(file: string, text: string, phrases: readonly Phrase[]): string[] {
  const lines = text.split('\n')
  const marker = /^\s*(\*(?!\*)|\/\/|\/\*\*?)?\s*/
  return lines.flatMap((line, index) => {
    const next = (lines[index + 1] ?? '').replace(marker, '')
    const joined = `${line} ${next}`
    return phrases.flatMap(({ pattern, instead }) => {
      const match = pattern.exec(joined)
      if (!match || match.index > line.length) return []
      return [`${file}:${index + 1}: "${match[0]}": write "${instead}" or similar`]
    })
  })
}
