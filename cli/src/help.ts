import { type Command, readArguments } from './command.ts'
import { readVersion } from './machine/repository.ts'
import { alignColumns } from './terminal/align-columns.ts'

export const version: Command = {
  name: 'version',
  summary: 'Print the versions of Roost and Node.',
  usage: ['roost version [--json]'],
  async run(args) {
    const { values } = readArguments({ args, options: { json: { type: 'boolean' } } })
    const facts = { version: await readVersion(), node: process.versions.node }
    console.log(values.json ? JSON.stringify(facts) : `Roost ${facts.version} on Node ${facts.node}`)
    return 0
  },
}

/** Prints the list of commands, or the help of one command; returns the exit code. */
export function help(commands: Command[], [name]: string[]): number {
  if (name === undefined) {
    const width = Math.max(...commands.map((command) => command.name.length))
    console.log('Roost hosts AI agents on your own machine.\n')
    for (const command of commands) console.log(`  roost ${command.name.padEnd(width)}  ${command.summary}`)
    console.log('\nRun `roost help COMMAND` for its arguments and options.')
    return 0
  }
  const command = commands.find((each) => each.name === name)
  if (!command) {
    console.error(`roost help: Unknown command ${JSON.stringify(name)}. Run \`roost help\` for the list.`)
    return 2
  }
  const usage = alignColumns(command.usage).map((line) => `  ${line}`)
  console.log(`${command.summary}\n\n${usage.join('\n')}`)
  return 0
}
