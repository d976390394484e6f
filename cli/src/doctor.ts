import { resolve } from 'node:path'
import { checkAudit } from './checkup/audit.ts'
import { isInContainer } from './checkup/container.ts'
import { checkData } from './checkup/data.ts'
import { checkDiskQuotas } from './checkup/disk.ts'
import { checkEgress } from './checkup/egress.ts'
import { checkEngine } from './checkup/engine.ts'
import { type Finding, findingLines } from './checkup/finding.ts'
import { checkInnerNetworks } from './checkup/inner-networks.ts'
import { checkInvariants } from './checkup/invariants.ts'
import { checkMachine } from './checkup/machine.ts'
import { checkMail } from './checkup/mail.ts'
import { checkPlatform } from './checkup/platform.ts'
import { readPlatformState } from './checkup/platform-state.ts'
import { type Command, readArguments, UsageError } from './command.ts'
import { readVersion, repository } from './machine/repository.ts'
import { platformEnvironment, readDotenv } from './platform/environment.ts'
import { writeBundle } from './support/bundle.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'Find problems of this machine or installation, and how to fix them.',
  usage: [
    'roost doctor [--data-dir FOLDER]',
    'roost doctor --bundle [FILE]',
    'roost doctor --invariants',
    '',
    '--data-dir FOLDER  data folder of the installation (default ROOST_DATA_DIR or ./data)',
    '--bundle           also write an archive for people who help, without secrets and conversations',
    'FILE               its path (default roost-support-TIME.tar.gz here); must not exist',
    '--invariants       only check that the run records of the running platform are consistent',
    '',
    'Changes nothing else. Exit code 1 if a check fails.',
  ],
  async run(args) {
    const { values, positionals } = readArguments({
      args,
      allowPositionals: true,
      options: {
        'data-dir': { type: 'string' },
        bundle: { type: 'boolean' },
        invariants: { type: 'boolean' },
      },
    })
    const [file, ...more] = positionals
    const excess = values.bundle ? more[0] : file
    if (excess !== undefined) throw new UsageError(`Unexpected argument ${JSON.stringify(excess)}.`)
    if (values.bundle && values.invariants)
      throw new UsageError('--bundle and --invariants cannot be combined.')
    const env = platformEnvironment({
      shell: process.env,
      dotenv: await readDotenv(repository.dotenv),
      options: { ROOST_DATA_DIR: values['data-dir'] },
      cwd: process.cwd(),
      root: repository.root,
    })
    console.log(`Roost ${await readVersion()} in ${repository.root}\n`)
    const state = await readPlatformState(env)
    if (values.invariants) {
      const { summary, findings } = await checkInvariants(env, state)
      console.log(`${summary}\n`)
      return report(findings)
    }
    const findings = [
      ...(isInContainer(env) ? [] : await checkMachine(env.ROOST_DATA_DIR)),
      ...(await checkEngine(env)),
      ...(await checkData(env)),
      await checkMail(env),
      ...(await checkPlatform(env, state)),
      await checkAudit(env, state),
      ...(await checkEgress(env, state)),
      await checkInnerNetworks(env, state),
      await checkDiskQuotas(env, state),
    ]
    const exitCode = report(findings)
    if (!values.bundle) return exitCode
    const now = new Date()
    const to = resolve(file ?? `roost-support-${now.toISOString().replaceAll(/[:.]/g, '-')}.tar.gz`)
    const names = await writeBundle({ env, to, report: `${findingLines(findings).join('\n')}\n`, now })
    console.log(`\nSupport bundle: ${to}\nContains ${names.join(', ')}.`)
    console.log('Secrets are masked. It names your agents and hosts: read it before you send it.')
    return exitCode
  },
}

/** Prints the findings and a summary line; returns the exit code. */
function report(findings: Finding[]): number {
  for (const line of findingLines(findings)) console.log(line)
  const failed = findings.filter(({ state }) => state === 'fail').length
  const warned = findings.filter(({ state }) => state === 'warn').length
  const verdict = failed > 0 ? `Failed checks: ${failed}` : 'No failed checks'
  console.log(`\n${verdict}${warned > 0 ? `, warnings: ${warned}` : ''}.`)
  return failed > 0 ? 1 : 0
}
