import { mkdir, readdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Command, readArguments } from './command.ts'
import { type Checkout, CheckoutError, openCheckout } from './machine/checkout.ts'
import { acquireLock } from './machine/lock.ts'
import { repository } from './machine/repository.ts'
import { run } from './machine/run.ts'
import { platformEnvironment, readDotenv } from './platform/environment.ts'
import { runStep } from './platform/run-step.ts'
import { ProcessFailed } from './platform/supervised-process.ts'
import { consents, needsYes } from './terminal/ask.ts'
import { createProgress } from './terminal/progress.ts'

type Code = { version: string; commit: string | null; root: string | null }
/** What `server/src/start/rollback.ts` prints. */
type RollbackPlan = {
  from: Code
  to: Code
  backup: { name: string; created_at: string } | null
  is_resumed: boolean
  aside: string | null
}
type Environment = NodeJS.ProcessEnv & { ROOST_DATA_DIR: string }

export const rollback: Command = {
  name: 'rollback',
  summary: 'Return to the state before the last upgrade.',
  usage: [
    'roost rollback [--to BACKUP] [--keep-code] [--yes] [--data-dir FOLDER]',
    'roost rollback --list [--data-dir FOLDER]',
    '',
    '--to BACKUP        restore this backup of the folder upgrades/ instead',
    '--list             print these backups, oldest first',
    '--keep-code        restore the data, and do not change the checkout',
    '--yes              do not ask for confirmation',
    '--data-dir FOLDER  data folder of the installation (default ROOST_DATA_DIR or ./data)',
    '',
    'Restores the database and the encryption key from the backup that the upgrade made, and checks out the commit',
    'from before it. Everything since the upgrade is lost for the platform. The replaced database is kept as a backup,',
    'so the rollback can be undone. The platform must be stopped. After an interruption, run it again.',
  ],
  completions: ['--list'],
  async run(args) {
    const { values } = readArguments({
      args,
      options: {
        to: { type: 'string' },
        list: { type: 'boolean', default: false },
        'keep-code': { type: 'boolean', default: false },
        yes: { type: 'boolean', short: 'y', default: false },
        'data-dir': { type: 'string' },
      },
    })
    const env = platformEnvironment({
      shell: process.env,
      dotenv: await readDotenv(repository.dotenv),
      options: { ROOST_DATA_DIR: values['data-dir'] },
      cwd: process.cwd(),
      root: repository.root,
    })
    if (values.list) return list(env.ROOST_DATA_DIR)
    await mkdir(env.ROOST_DATA_DIR, { recursive: true, mode: 0o700 })
    // Held to the end, so that no start comes between the data and the code.
    const lock = await acquireLock('up', await realpath(env.ROOST_DATA_DIR))
    if (!lock) {
      console.error('roost rollback: The platform is running on this data folder. Stop it first.')
      return 1
    }
    try {
      return await rollBack(env, values.to ?? '', values['keep-code'], values.yes)
    } catch (error) {
      if (!(error instanceof ProcessFailed || error instanceof CheckoutError)) throw error
      console.error(`roost rollback: ${error.message}`)
      return 1
    } finally {
      await lock.release()
    }
  },
}

async function rollBack(env: Environment, to: string, keepCode: boolean, isYes: boolean): Promise<number> {
  const plan = await readPlan(env, to)
  const change = keepCode ? keptCode : await codeChange(plan)
  console.log(`From: ${describe(plan.from)}`)
  console.log(`To:   ${describe(plan.to)}`)
  if (plan.backup)
    console.log(`Data: ${plan.backup.name}. What happened since ${plan.backup.created_at} is lost.`)
  else console.log('Data: unchanged, because this upgrade changed none.')
  console.log(`Code: ${change.description}`)
  needsYes(isYes)
  if (!(await consents('Roll back?', isYes))) {
    console.log('Nothing was changed.')
    return 1
  }
  await restoreData(env, to)
  await change.apply()
  await endRollback(env.ROOST_DATA_DIR)
  const aside = (await readAsides(env.ROOST_DATA_DIR)).at(-1)
  const { start, undo } = commandsAfter(plan.to.version, aside ?? '')
  console.log(`Rolled back. Start Roost with ${start}.`)
  if (plan.backup && aside) console.log(`To undo this: ${undo}`)
  return 0
}

/** Throws `ProcessFailed` when nothing can be rolled back. */
async function readPlan(env: Environment, to: string): Promise<RollbackPlan> {
  const args = [repository.rollback, 'plan', ...(to ? [to] : [])]
  const { code, stdout, lastLines } = await run(process.execPath, args, { env, cwd: repository.root })
  if (code !== 0) throw new ProcessFailed(lastLines.join('\n'), code ?? 1)
  // The program prints exactly this.
  return JSON.parse(stdout) as RollbackPlan
}

/** Restores the data. The rollback stays open until `endRollback`. */
export async function restoreData(env: Environment, to: string): Promise<void> {
  await createProgress().step('Restoring the data', (report) =>
    runStep({
      file: repository.rollback,
      args: ['data', ...(to ? [to] : [])],
      env,
      cwd: repository.root,
      onProgress: (text) => report(text, 'transient'),
    }),
  )
}

/** Done here, because the earlier version may not know this file. */
export async function endRollback(dataDir: string): Promise<void> {
  await rm(join(dataDir, 'rollback.json'), { force: true })
}

type CodeChange = { description: string; apply(): Promise<void> }
const keptCode: CodeChange = { description: 'unchanged', apply: async () => {} }

/** Throws `CheckoutError` when the code cannot be changed, before anything else is. */
async function codeChange({ from, to, is_resumed }: RollbackPlan): Promise<CodeChange> {
  const { root } = repository
  const checkout = openCheckout(root)
  const byHand = (description: string) => ({ description, apply: async () => {} })
  if (installSource() === 'chart') return byHand(`use the chart and the images of ${to.version}.`)
  if (installSource() === 'image')
    return byHand(`load the images of ${to.version}, and use its Compose file.`)
  if (to.commit === null)
    return byHand(`the commit of ${to.version} is not recorded. Check it out before you start Roost again.`)
  if (!checkout) {
    if (to.root !== null && to.root !== root) return byHand(`start it from ${to.root} instead of ${root}.`)
    return byHand(`unpack the release ${to.version} and start Roost from there.`)
  }
  const { commit } = to
  const head = await checkout.head()
  if (head === commit && !is_resumed) return keptCode
  if (!(await checkout.has(commit)))
    throw new CheckoutError(`${root} does not have the commit ${commit}. Fetch it, or add --keep-code.`)
  if (!is_resumed) await refuseOther(checkout, head, from)
  return {
    description: `commit ${commit.slice(0, 12)} in ${root}`,
    apply: () => (is_resumed ? checkout.forceTo(commit) : checkout.moveTo(commit)),
  }
}

/** `image` in the image with Compose, `chart` in the image with the Helm chart, anything else in a checkout. */
const installSource = () => process.env.ROOST_INSTALL_SOURCE

function commandsAfter(version: string, aside: string): { start: string; undo: string } {
  switch (installSource()) {
    case 'chart':
      return {
        start: `\`helm upgrade\` and the chart of ${version}`,
        undo: `helm upgrade --set-json 'migrations.command=["rollback","--to","${aside}","--yes"]'`,
      }
    case 'image':
      return {
        start: `\`docker-compose up -d\` and the Compose file of ${version}`,
        undo: `docker-compose run --rm backup rollback --to ${aside}`,
      }
    default:
      return { start: '`./roost up`', undo: `./roost rollback --to ${aside}` }
  }
}

async function refuseOther(checkout: Checkout, head: string, from: Code): Promise<void> {
  await checkout.refuseChanges()
  if (from.commit !== null && from.commit !== head)
    throw new CheckoutError(
      `The checkout is at ${head.slice(0, 12)}, and Roost last ran at ${from.commit.slice(0, 12)}. Check that out, or add --keep-code.`,
    )
}

function describe({ version, commit }: Code): string {
  return commit ? `${version} (${commit.slice(0, 12)})` : version
}

async function list(dataDir: string): Promise<number> {
  const names = await readdir(join(dataDir, 'upgrades')).catch(() => [])
  const timeOf = (name: string) => name.replace(/^\w+-/, '')
  const found = names.filter((name) => /^(upgrade|rollback)-/.test(name))
  for (const name of found.sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1))) console.log(name)
  return 0
}

async function readAsides(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, 'upgrades')).catch(() => [])
  return names.filter((name) => name.startsWith('rollback-')).sort()
}
