import { checkAudit } from './checkup/audit.ts'
import { checkData } from './checkup/data.ts'
import { checkEgress } from './checkup/egress.ts'
import { checkEngine } from './checkup/engine.ts'
import { type Finding, findingLines } from './checkup/finding.ts'
import { checkInvariants } from './checkup/invariants.ts'
import { checkMachine } from './checkup/machine.ts'
import { checkMail } from './checkup/mail.ts'
import { checkPlatform } from './checkup/platform.ts'
import { seePlatform } from './checkup/seen.ts'
import { type Command, readArguments } from './command.ts'
import { readVersion, repository } from './machine/repository.ts'
import { platformEnvironment, readDotenv } from './platform/environment.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'Say in plain words what is wrong with this machine or installation.',
  usage: [
    'roost doctor [--data-dir FOLDER]',
    'roost doctor --invariants',
    '',
    '--data-dir FOLDER  of the installation to look at (ROOST_DATA_DIR, ./data)',
    '--invariants       ask the running platform whether its records of runs hold together, and nothing else',
    '',
    'Looks and changes nothing. Exit code 1 when something fails.',
  ],
  async run(args) {
    const { values } = readArguments({
      args,
      options: { 'data-dir': { type: 'string' }, invariants: { type: 'boolean' } },
    })
    const env = platformEnvironment({
      shell: process.env,
      dotenv: await readDotenv(repository.dotenv),
      options: { ROOST_DATA_DIR: values['data-dir'] },
      cwd: process.cwd(),
      root: repository.root,
    })
    console.log(`Roost ${await readVersion()} in ${repository.root}\n`)
    const seen = await seePlatform(env)
    if (values.invariants) {
      const { read, findings } = await checkInvariants(env, seen)
      console.log(`${read}\n`)
      return report(findings)
    }
    return report([
      ...(await checkMachine(env.ROOST_DATA_DIR)),
      ...(await checkEngine(env)),
      ...(await checkData(env)),
      await checkMail(env),
      ...(await checkPlatform(env, seen)),
      await checkAudit(env, seen),
      ...(await checkEgress(env, seen)),
    ])
  },
}

/** Prints what was found and the verdict; the exit code. */
function report(findings: Finding[]): number {
  for (const line of findingLines(findings)) console.log(line)
  const failed = findings.filter(({ state }) => state === 'fail').length
  const warned = findings.filter(({ state }) => state === 'warn').length
  const verdict = failed > 0 ? `${failed} to repair` : 'Nothing to repair'
  console.log(`\n${verdict}${warned > 0 ? `, ${warned} to look at` : ''}.`)
  return failed > 0 ? 1 : 0
}
