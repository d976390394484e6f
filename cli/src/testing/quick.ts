import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { repository } from '../machine/repository.ts'
import { run } from '../machine/run.ts'
import { importsOf, listSources, testsNear } from './import-graph.ts'
import { checkStage, type StaticStage, tool } from './stages.ts'
import { isClusterTest } from './test-files.ts'

/** Test files run by `--quick`, the nearest to the change first. */
const maxQuickTestFiles = 24

/** What `roost test --quick` runs for the files that differ from the last commit. */
export type QuickPlan = { changed: string[]; stages: StaticStage[]; tests: string[]; skippedTests: number }

export async function planQuick(): Promise<QuickPlan> {
  const changed = (await changedFiles()).filter((file) => existsSync(join(repository.root, file)))
  const sources = changed.filter((file) => /\.tsx?$/.test(file))
  const imports = listSources(repository.root).flatMap((file) => importsOf(repository.root, file))
  const near = testsNear(sources, imports).filter((path) => !isClusterTest(path))
  const tests = near.slice(0, maxQuickTestFiles)
  await mkdir(join(repository.local, 'types'), { recursive: true })
  return {
    changed,
    stages: [...biomeStage(changed), checkStage('laws'), ...typeStages(sources)],
    tests,
    skippedTests: near.length - tests.length,
  }
}

/** Files that differ from the last commit, new ones included; the files of that commit when nothing differs. */
async function changedFiles(): Promise<string[]> {
  const modified = await git(['diff', '--name-only', 'HEAD'])
  const untracked = await git(['ls-files', '--others', '--exclude-standard'])
  const changed = [...new Set([...modified, ...untracked])]
  return changed.length > 0 ? changed : git(['diff', '--name-only', 'HEAD~1', 'HEAD'])
}

async function git(args: string[]): Promise<string[]> {
  const { code, stdout, lastLines } = await run('git', ['-C', repository.root, ...args])
  if (code !== 0) throw new Error(`git ${args.join(' ')} failed:\n${lastLines.join('\n')}`)
  return stdout.split('\n').filter((line) => line !== '')
}

/** Without the rule that reads every file of the repository for types; the full run has it. */
const quickConfig = `--config-path=${join(import.meta.dirname, 'biome-quick.json')}`

function biomeStage(changed: readonly string[]): StaticStage[] {
  const files = changed.filter((file) => /\.(tsx?|json|css)$/.test(file))
  if (files.length === 0) return []
  const args = ['ci', '--diagnostic-level=error', '--no-errors-on-unmatched', quickConfig, ...files]
  return [
    {
      name: 'biome ci (changed files)',
      file: process.execPath,
      args: [tool('@biomejs/biome/bin/biome'), ...args],
    },
  ]
}

const projects = [
  { name: 'tsconfig.json', covers: (file: string) => !/^(web\/src|checks\/browser)\//.test(file) },
  { name: 'web/tsconfig.json', covers: (file: string) => /^(web|contracts)\//.test(file) },
  { name: 'checks/browser/tsconfig.json', covers: (file: string) => file.startsWith('checks/browser/') },
]

/** Incremental: the first run checks everything, later ones only what a change reaches. */
function typeStages(sources: readonly string[]): StaticStage[] {
  return projects
    .filter(({ covers }) => sources.some(covers))
    .map(({ name }) => {
      const state = join(repository.local, 'types', `${name.replaceAll('/', '-')}.tsbuildinfo`)
      return {
        name: `tsc --incremental -p ${name}`,
        file: process.execPath,
        args: [
          tool('typescript/bin/tsc'),
          '--noEmit',
          '--incremental',
          '--tsBuildInfoFile',
          state,
          '-p',
          name,
        ],
      }
    })
}
