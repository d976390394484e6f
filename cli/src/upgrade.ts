import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Command, readArguments, UsageError } from './command.ts'
import { type Checkout, CheckoutError, openCheckout } from './machine/checkout.ts'
import { acquireLock } from './machine/lock.ts'
import { repository } from './machine/repository.ts'
import { run } from './machine/run.ts'
import { platformEnvironment, readDotenv } from './platform/environment.ts'
import { runStep } from './platform/run-step.ts'
import { ProcessFailed } from './platform/supervised-process.ts'
import { endRollback, restoreData } from './rollback.ts'
import { consents, needsYes } from './terminal/ask.ts'
import { createProgress, type Progress } from './terminal/progress.ts'
import { checkHealth, findService, type Service } from './upgrade/service.ts'
import { findTarget, type Target } from './upgrade/target.ts'

const signersVariable = 'ROOST_RELEASE_SIGNERS'
type Environment = NodeJS.ProcessEnv & { ROOST_DATA_DIR: string }

export const upgrade: Command = {
  name: 'upgrade',
  summary: 'Upgrade this checkout to the newest signed release.',
  usage: [
    'roost upgrade [--check] [--to TAG | --branch] [--yes] [--data-dir FOLDER]',
    '',
    '--check            say what would happen, and change nothing',
    '--to TAG           this release (default the newest one that is not a pre-release)',
    '--branch           the tip of the tracked branch, without a signature',
    '--yes              do not ask for confirmation',
    '--data-dir FOLDER  data folder of the installation (default ROOST_DATA_DIR or ./data)',
    '',
    'Verifies the tag with the keys in release-signers of the data folder, stops the platform, changes the code, and',
    'starts it again, which backs up and migrates the database. If anything fails, the earlier version is started with',
    `its data. ${signersVariable} names another file of keys (format: allowed signers of ssh-keygen).`,
  ],
  completions: ['--check'],
  async run(args) {
    const { values } = readArguments({
      args,
      options: {
        check: { type: 'boolean', default: false },
        to: { type: 'string' },
        branch: { type: 'boolean', default: false },
        yes: { type: 'boolean', short: 'y', default: false },
        'data-dir': { type: 'string' },
      },
    })
    if (values.to !== undefined && values.branch) throw new UsageError('Give --to or --branch, not both.')
    const env = platformEnvironment({
      shell: process.env,
      dotenv: await readDotenv(repository.dotenv),
      options: { ROOST_DATA_DIR: values['data-dir'] },
      cwd: process.cwd(),
      root: repository.root,
    })
    const progress = createProgress()
    try {
      const checkout = openCheckout(repository.root)
      if (!checkout)
        throw new CheckoutError(
          `${repository.root} is not a checkout of git. Unpack the new release beside it and start that one.`,
        )
      await checkout.refuseChanges()
      if (env.ROOST_UPGRADE_BACKUP === 'false')
        throw new CheckoutError(
          'ROOST_UPGRADE_BACKUP is false: an upgrade that can be rolled back needs a backup.',
        )
      // git reads it in the folder of the checkout.
      const signers = resolve(env[signersVariable] || join(env.ROOST_DATA_DIR, 'release-signers'))
      const target = await progress.step('Fetching', () =>
        findTarget({ checkout, tag: values.to ?? '', isBranch: values.branch, signers }),
      )
      if (target === null) {
        console.log('This is the newest version already.')
        return 0
      }
      const service = await findService(env.ROOST_DATA_DIR)
      await describe(checkout, target, service)
      if (values.check) return 0
      needsYes(values.yes)
      if (!(await consents('Upgrade?', values.yes))) {
        console.log('Nothing was changed.')
        return 1
      }
      return await guarded({ env, checkout, target, service, progress })
    } catch (error) {
      if (!(error instanceof ProcessFailed || error instanceof CheckoutError)) throw error
      console.error(`roost upgrade: ${error.message}`)
      return 1
    }
  },
}

async function describe(checkout: Checkout, target: Target, service: Service | null): Promise<void> {
  const head = await checkout.head()
  const changed = await checkout.git('diff', '--name-only', head, target.commit)
  const has = (pattern: RegExp) => changed.split('\n').some((path) => pattern.test(path))
  console.log(`From:         ${head.slice(0, 12)}`)
  console.log(`To:           ${target.name} (${target.version}, ${target.commit.slice(0, 12)})`)
  console.log(
    `Signature:    ${target.signer ? `verified with ${target.signer}` : 'none, as --branch allows'}`,
  )
  console.log(`Database:     ${has(/^server\/src\/migrations\//) ? 'backed up and migrated' : 'unchanged'}`)
  console.log(`Dependencies: ${has(/^package-lock\.json$/) ? 'installed again' : 'unchanged'}`)
  console.log(`Restart:      ${service ? service.description : 'none, because the platform does not run'}`)
}

type Upgrade = {
  env: Environment
  checkout: Checkout
  target: Target
  service: Service | null
  progress: Progress
}

/** One upgrade at a time for this folder. */
async function guarded(options: Upgrade): Promise<number> {
  const lock = await acquireLock('upgrade', repository.root)
  if (!lock) throw new ProcessFailed('Another upgrade of this folder is running.', 1)
  try {
    return await perform(options)
  } finally {
    await lock.release()
  }
}

async function perform({ env, checkout, target, service, progress }: Upgrade): Promise<number> {
  const before = await checkout.head()
  if (before !== target.from)
    throw new CheckoutError('Another command changed the checkout meanwhile. Repeat the upgrade.')
  const state = await readStateFile(env)
  const dependencies = await keepDependencies(checkout, before, target.commit)
  const goBack = async () => {
    if (service) await service.stop()
    await checkout.forceTo(before)
    await dependencies.bringBack()
    await restoreEarlierData(env, state)
    if (!service) return
    const running = await progress.step('Starting the earlier version', () =>
      service.start(startSeconds(env)),
    )
    await checkHealth(running, healthSeconds(env))
  }
  try {
    if (service) await progress.step('Stopping the platform', () => service.stop())
    await checkout.moveTo(target.commit)
    await dependencies.setAside()
    await progress.step('Installing the dependencies', installDependencies)
    if (service) {
      const running = await progress.step('Starting the new version', () => service.start(startSeconds(env)))
      await progress.step('Checking its health', () => checkHealth(running, healthSeconds(env)))
    } else {
      await progress.step('Migrating the database', (report) => migrateStep(env, report))
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    console.error(`roost upgrade: ${reason}`)
    console.error(`Returning to ${before.slice(0, 12)}.`)
    await goBack().catch((cause: Error) => {
      throw new ProcessFailed(
        `The earlier version could not be restored: ${cause.message} Mend this, then run \`./roost rollback\`.`,
        1,
      )
    })
    console.error('The upgrade was rolled back: the earlier version has its data and code again.')
    return 1
  }
  await dependencies.remove()
  console.log(`Upgraded to ${target.name} (${target.version}).`)
  console.log('To go back, stop Roost and run `./roost rollback`.')
  if (!service) console.log('Start Roost with `./roost up`.')
  return 0
}

type State = { backup: string | null; completed: boolean }

/** The earlier code does this, because the new one may be unable to. `before`: the state file before the upgrade. */
async function restoreEarlierData(env: Environment, before: string | null): Promise<void> {
  const now = await readStateFile(env)
  // The new version did not open the data.
  if (now === before || now === null) return
  // Written by the platform.
  const { backup } = JSON.parse(now) as State
  const earlier = before === null ? null : (JSON.parse(before) as State)
  if (backup !== null && (backup !== earlier?.backup || !earlier.completed)) {
    await restoreData(env, backup)
    await endRollback(env.ROOST_DATA_DIR)
  }
  // With the way back that there was before this attempt.
  const path = stateFile(env)
  if (before === null) return rm(path, { force: true })
  await writeFile(`${path}.draft`, before, { mode: 0o600 })
  await rename(`${path}.draft`, path)
}

function readStateFile(env: Environment): Promise<string | null> {
  return readFile(stateFile(env), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}

function stateFile(env: Environment): string {
  return join(env.ROOST_DATA_DIR, 'upgrade-state.json')
}

async function migrateStep(env: Environment, report: (text: string) => void): Promise<void> {
  await runStep({ file: repository.migrate, env, cwd: repository.root, onProgress: report })
}

/** Runs the script of the new version, which installs what its lock file needs. */
async function installDependencies(): Promise<void> {
  const { code, lastLines } = await run(join(repository.root, 'roost'), ['version'], { cwd: repository.root })
  if (code !== 0) throw new ProcessFailed(`The new version cannot be installed:\n${lastLines.join('\n')}`, 1)
}

/** The dependencies of the earlier version are kept until the new one works, because the network may be away. */
async function keepDependencies(checkout: Checkout, from: string, to: string) {
  const installed = join(repository.root, 'node_modules')
  const kept = join(repository.local, 'previous-node_modules')
  const isSame = (await checkout.git('diff', '--name-only', from, to, '--', 'package-lock.json')) === ''
  const remove = () => rm(kept, { recursive: true, force: true })
  return {
    async setAside() {
      if (isSame) return
      await mkdir(repository.local, { recursive: true })
      await remove()
      await rename(installed, kept)
    },
    async bringBack() {
      if (!existsSync(kept)) return
      await rm(installed, { recursive: true, force: true })
      await rename(kept, installed)
    },
    remove,
  }
}

/** Time for a start, which may build images, make a backup and migrate. */
function startSeconds(env: Environment): number {
  return Number(env.ROOST_UPGRADE_START_SECONDS) || 1800
}

/** Time for the new version to become healthy after its start. */
function healthSeconds(env: Environment): number {
  return Number(env.ROOST_UPGRADE_HEALTH_SECONDS) || 120
}
