import { access, constants, readdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { SkillsSettle } from '@roost/contracts/link/skills'

type Requires = SkillsSettle['skills'][number]['requires']

/** Returns the missing requirements of a skill by name. Reads no values of variables. */
export async function missingOf(
  requires: Requires,
  env: Readonly<Record<string, string>>,
  home: string,
): Promise<string[]> {
  const warnings: string[] = []
  for (const name of requires.binaries) {
    if (!(await hasBinary(name, env.PATH ?? ''))) warnings.push(`missing_binary:${name}`)
  }
  for (const name of requires.env) if (!env[name]) warnings.push(`missing_env:${name}`)
  for (const name of requires.packages) {
    if (!(await hasPackage(name, home))) warnings.push(`missing_package:${name}`)
  }
  return warnings
}

async function hasBinary(name: string, path: string): Promise<boolean> {
  if (name.includes('/')) return false
  for (const folder of path.split(delimiter).filter(Boolean)) {
    if (await isAccessible(join(folder, name), constants.X_OK)) return true
  }
  return false
}

/** Looks for a Node, Python or system package, in the workspace or installed globally. */
async function hasPackage(name: string, home: string): Promise<boolean> {
  if (name.split('/').includes('..')) return false
  for (const modules of [
    join(home, 'node_modules'),
    '/usr/local/lib/node_modules',
    '/usr/lib/node_modules',
  ]) {
    if (await isAccessible(join(modules, name))) return true
  }
  if (await isAccessible(join('/var/lib/dpkg/info', `${name}.list`))) return true
  const normalizedName = name.toLowerCase().replace(/[-_.]+/g, '_')
  for (const folder of await pythonFolders(home)) {
    const names = await readdir(folder).catch(() => [])
    const found = names.some((entry) => {
      const [, project] = /^(.+?)-[^-]+\.(dist|egg)-info$/.exec(entry) ?? []
      return project?.toLowerCase().replace(/[-_.]+/g, '_') === normalizedName
    })
    if (found) return true
  }
  return false
}

async function pythonFolders(home: string): Promise<string[]> {
  const folders: string[] = []
  for (const lib of [join(home, '.local', 'lib'), join(home, '.venv', 'lib'), '/usr/local/lib', '/usr/lib']) {
    for (const name of await readdir(lib).catch(() => [])) {
      if (!name.startsWith('python3')) continue
      folders.push(join(lib, name, 'site-packages'), join(lib, name, 'dist-packages'))
    }
  }
  return folders
}

function isAccessible(path: string, mode = constants.F_OK): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  )
}
