import { askHidden } from './client/hidden-input.ts'
import { type Command, readArguments, UsageError } from './command.ts'
import { readRunning } from './machine/lock.ts'
import { repository } from './machine/repository.ts'
import { platformEnvironment, readDotenv } from './platform/environment.ts'
import { runStep } from './platform/run-step.ts'
import { ProcessFailed } from './platform/supervised-process.ts'
import { createProgress } from './terminal/progress.ts'

const targetVariable = 'ROOST_DATABASE_MOVE_TO'

export const database: Command = {
  name: 'database',
  summary: 'Move the database from SQLite to PostgreSQL, or back.',
  usage: [
    'roost database move [--data-dir FOLDER]',
    '',
    '--data-dir FOLDER  data folder of the installation (default ROOST_DATA_DIR or ./data)',
    '',
    'Copies all rows from the database in ROOST_DATABASE_URL into an empty one, and compares both. The platform',
    'must be stopped. The old database is not changed. The address of the new one, such as',
    `postgres://roost:PASSWORD@localhost/roost, is prompted for or read from ${targetVariable}.`,
  ],
  completions: ['move'],
  async run(args) {
    const { values, positionals } = readArguments({
      args,
      options: { 'data-dir': { type: 'string' } },
      allowPositionals: true,
    })
    if (positionals.join(' ') !== 'move') throw new UsageError('The only form is `roost database move`.')
    const env = await platformEnvironment({
      shell: process.env,
      dotenv: await readDotenv(repository.dotenv),
      options: { ROOST_DATA_DIR: values['data-dir'] },
      cwd: process.cwd(),
      root: repository.root,
    })
    if (await readRunning(env.ROOST_DATA_DIR)) {
      console.error('roost database: The platform is running on this data folder. Stop it first.')
      return 1
    }
    const target = env[targetVariable] || (await askHidden('Address of the new database: '))
    const progress = createProgress()
    try {
      let last = ''
      await progress.step('Moving the database', (report) =>
        runStep({
          file: repository.moveDatabase,
          env: { ...env, [targetVariable]: target },
          cwd: repository.root,
          onProgress: (text) => {
            last = text
            report(text, 'transient')
          },
        }),
      )
      console.log(last)
      console.log('Set ROOST_DATABASE_URL to the new address in .env, and start the platform.')
      return 0
    } catch (error) {
      if (!(error instanceof ProcessFailed)) throw error
      console.error(`roost database: ${error.message}`)
      return error.exitCode
    }
  },
}
