import { type Command, readArguments } from './command.ts'
import { examples } from './examples.ts'
import { readVersion } from './machine/repository.ts'
import { alignColumns } from './terminal/align-columns.ts'
import { styled } from './terminal/style.ts'
import { didYouMean } from './terminal/suggest.ts'

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
  const command = findCommand(commands, name)
  if (!command) {
    console.error(`roost help: ${unknownCommand(commands, name)}`)
    return 2
  }
  const usage = alignColumns(command.usage).map((line) => `  ${line}`)
  console.log(`${command.summary}\n\n${usage.join('\n')}`)
  const lines = examples[command.name] ?? []
  if (lines.length > 0)
    console.log(`\n${styled('bold', 'Examples:')}\n${lines.map((line) => `  ${line}`).join('\n')}`)
  return 0
}

export function findCommand(commands: readonly Command[], name: string): Command | undefined {
  return commands.find((each) => each.name === name || each.aliases?.includes(name))
}

/** A sentence for a name that no command has, with the nearest one. */
export function unknownCommand(commands: readonly Command[], name: string): string {
  const names = commands.flatMap((command) => [command.name, ...(command.aliases ?? [])])
  return `Unknown command ${JSON.stringify(name)}.${didYouMean(name, names)} Run \`roost help\` for the list.`
}
