import { type Command, UsageError } from './command.ts'
import { didYouMean } from './terminal/suggest.ts'

const shells = ['bash', 'zsh', 'fish']

/** `commands` is a function because this command is an element of that list. */
export function createCompletion(commands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    summary: 'Print the shell completion script.',
    usage: [
      'roost completion bash|zsh|fish',
      '',
      'bash: eval "$(roost completion bash)"    in ~/.bashrc',
      'zsh:  eval "$(roost completion zsh)"     in ~/.zshrc',
      'fish: roost completion fish | source     in ~/.config/fish/config.fish',
      '',
      'Completes commands, options and the names of agents. A key press waits for the platform at most a second;',
      'without an answer, the names of the last time are offered.',
    ],
    completions: shells,
    async run([shell, ...extra]) {
      if (extra.length > 0) throw new UsageError(`Unexpected argument ${JSON.stringify(extra[0])}.`)
      const scripts: Record<string, (choices: Choices) => string> = { bash, zsh, fish }
      const script = shell !== undefined && Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
      if (!script)
        throw new UsageError(`The shell must be bash, zsh or fish.${didYouMean(shell ?? '', shells)}`)
      console.log(script(choicesOf(commands())))
      return 0
    },
  }
}

/** What may follow a command: words, options, and an agent's name. Keys are `COMMAND` or `COMMAND WORD`. */
type Choices = {
  names: { name: string; summary: string }[]
  words: Record<string, string[]>
  options: Record<string, string[]>
  agents: string[]
}

function choicesOf(commands: readonly Command[]): Choices {
  const named = commands.flatMap((command) =>
    [command.name, ...(command.aliases ?? [])].map((name) => ({ ...command, name })),
  )
  const key = (name: string, word: string) => (word === '' ? name : `${name} ${word}`)
  return {
    names: [
      ...commands.map(({ name, summary }) => ({ name, summary })),
      { name: 'help', summary: 'Show the commands, or the help of one.' },
    ],
    words: {
      ...Object.fromEntries(
        named.flatMap(({ name, completions = [] }) => (completions.length > 0 ? [[name, completions]] : [])),
      ),
      help: commands.map(({ name }) => name),
    },
    options: Object.fromEntries(
      named.flatMap(({ name, usage, optionNames }) =>
        Object.entries(optionNames ?? { '': optionsIn(usage) }).map(([word, options]) => [
          key(name, word),
          options,
        ]),
      ),
    ),
    agents: named.flatMap(({ name, agentAfter = [] }) => agentAfter.map((word) => key(name, word))),
  }
}

/** The options of a command that describes them only in its help text. */
function optionsIn(usage: readonly string[]): string[] {
  return [...new Set([...usage.join('\n').matchAll(/--[a-z][a-z-]+/g)].map(([option]) => option)), '--help']
}

/** A `case` branch per key; `assign` builds its command. */
function branches(table: Record<string, string[]>, assign: (words: string) => string): string {
  return Object.entries(table)
    .map(([key, words]) => `    '${key}') ${assign(words.join(' '))} ;;`)
    .join('\n')
}

/** The names come from the platform, quickly or not at all; errors stay invisible. */
const askAgents = 'completion agents 2>/dev/null </dev/null'

function bash({ names, words, options, agents }: Choices): string {
  const patterns = agents.map((key) => `'${key}'`).join('|')
  return `_roost_agents() { "\${COMP_WORDS[0]}" ${askAgents}; }
_roost() {
  local word=\${COMP_WORDS[COMP_CWORD]} command=\${COMP_WORDS[1]} sub=\${COMP_WORDS[2]}
  local choices= position=$COMP_CWORD
  COMPREPLY=()
  if [ "$position" = 1 ]; then
    COMPREPLY=($(compgen -W '${names.map(({ name }) => name).join(' ')}' -- "$word"))
    return
  fi
  case $word in -*)
    case "$command $sub" in
${branches(keysWithWord(options), (list) => `choices='${list}'`)}
    *) case $command in
${branches(keysWithoutWord(options), (list) => `choices='${list}'`)}
    esac ;;
    esac
    COMPREPLY=($(compgen -W "$choices" -- "$word"))
    return
  esac
  if [ "$command" = cp ]; then
    # bash takes the colon of AGENT:PATH as the end of a word.
    compopt -o nospace -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$word") $(compgen -S : -W "$(_roost_agents)" -- "$word"))
    return
  fi
  if [ "$position" = 2 ]; then
    case $command in
${branches(words, (list) => `choices='${list}'`)}
    esac
    case $command in ${patternsOf(agents, 2)}) choices="$choices $(_roost_agents)" ;; esac
  elif [ "$position" = 3 ]; then
    case "$command $sub" in ${patterns}) choices=$(_roost_agents) ;; esac
  fi
  COMPREPLY=($(compgen -W "$choices" -- "$word"))
}
complete -o default -F _roost roost`
}

/** Patterns of commands whose argument at this position is an agent. \`list\` may be left out. */
function patternsOf(agents: readonly string[], position: 2): string {
  const direct = agents.filter((key) => position === 2 && !key.includes(' '))
  const lists = agents.filter((key) => key.endsWith(' list')).map((key) => key.split(' ')[0] ?? '')
  return [...new Set([...direct, ...lists])].join('|')
}

function keysWithWord(table: Record<string, string[]>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(table).filter(([key]) => key.includes(' ')))
}

function keysWithoutWord(table: Record<string, string[]>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(table).filter(([key]) => !key.includes(' ')))
}

function zsh({ names, words, options, agents }: Choices): string {
  const descriptions = names.map(({ name, summary }) => `    '${name}:${summary.replaceAll("'", "'\\''")}'`)
  return `_roost_agents() { $words[1] ${askAgents} }
_roost() {
  local -a commands=(
${descriptions.join('\n')}
  )
  local choices= command=$words[2] sub=$words[3]
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  if [[ $words[CURRENT] == -* ]]; then
    case "$command $sub" in
${branches(keysWithWord(options), (list) => `choices='${list}'`)}
    *) case $command in
${branches(keysWithoutWord(options), (list) => `choices='${list}'`)}
    esac ;;
    esac
    compadd -- \${=choices}
    return
  fi
  if [[ $command == cp ]]; then
    compadd -S : -- \${(f)"$(_roost_agents)"}
    _files
    return
  fi
  if (( CURRENT == 3 )); then
    case $command in
${branches(words, (list) => `choices='${list}'`)}
    esac
    case $command in ${patternsOf(agents, 2)}) choices="$choices $(_roost_agents)" ;; esac
  elif (( CURRENT == 4 )); then
    case "$command $sub" in ${agents.map((key) => `'${key}'`).join('|')}) choices=$(_roost_agents) ;; esac
  fi
  if [[ -n $choices ]]; then compadd -- \${=choices}; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _roost roost`
}

function fish({ names, words, options, agents }: Choices): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const offer = (condition: string, choices: string, more = '') =>
    `complete -c roost -f -n ${quoted(condition)} -a ${choices}${more}`
  return [
    // The command line so far, without options and without the word being typed.
    'function __roost_words; string match -v -- "-*" (commandline -opc); end',
    'function __roost_at; test (count (__roost_words)) -eq $argv[1]; end',
    'function __roost_is; set -l words (__roost_words); test "$words[2..-1]" = "$argv"; end',
    'function __roost_in; set -l words (__roost_words); string match -q -- "$argv*" "$words[2..-1]"; end',
    `function __roost_agents; set -l words (commandline -opc); $words[1] ${askAgents}; end`,
    'function __roost_sides; for name in (__roost_agents); echo "$name:"; end; end',
    'complete -c roost -f',
    ...names.map(({ name, summary }) => offer('__roost_at 1', name, ` -d ${quoted(summary)}`)),
    ...Object.entries(words).map(([name, list]) => offer(`__roost_is ${name}`, quoted(list.join(' ')))),
    ...Object.entries(options).flatMap(([key, list]) =>
      list.map((option) => `complete -c roost -n ${quoted(`__roost_in ${key}`)} -l ${option.slice(2)}`),
    ),
    ...[...agents, ...patternsOf(agents, 2).split('|')].map((key) =>
      offer(`__roost_is ${key}`, quoted('(__roost_agents)')),
    ),
    `complete -c roost -F -n ${quoted('__roost_in cp')} -a ${quoted('(__roost_sides)')}`,
  ].join('\n')
}
