import { keyedPlaces } from './navigation.ts'
import { commandKey, paletteKeys } from './palette-keys.ts'

/** One entry of the list of shortcuts. */
export type Shortcut = {
  /** Keys to press together, or one after the other if `isSequence`. */
  keys: readonly string[]
  isSequence?: true
  label: string
}
export type ShortcutGroup = { title: string; shortcuts: readonly Shortcut[] }

/** The shortcuts of the dialog that `?` opens. Guests of the Workspace see those of the Workspace only. */
export function shortcutGroups(isSignedIn: boolean): ShortcutGroup[] {
  const help: Shortcut = { keys: ['?'], label: 'Help for this page' }
  const general: ShortcutGroup[] = isSignedIn
    ? [
        {
          title: 'Everywhere',
          shortcuts: [{ keys: paletteKeys(), label: 'Search or run a command' }, help],
        },
        {
          title: 'Go to',
          shortcuts: keyedPlaces.map(({ label, key }) => ({
            keys: ['G', key.toUpperCase()],
            isSequence: true,
            label,
          })),
        },
      ]
    : [{ title: 'Everywhere', shortcuts: [help] }]
  return [
    ...general,
    ...(isSignedIn
      ? [
          lists,
          inbox,
          log,
          { title: 'Files', shortcuts: [{ keys: [commandKey(), 'S'], label: 'Save the file' }] },
        ]
      : []),
    {
      title: 'Chat',
      shortcuts: isSignedIn
        ? [...chat, { keys: [commandKey(), '.'], label: 'Show or hide the side panel' }]
        : chat,
    },
  ]
}

const chat: readonly Shortcut[] = [
  { keys: ['/'], label: 'Write a message' },
  { keys: ['Enter'], label: 'Send the message' },
  { keys: ['Shift', 'Enter'], label: 'New line' },
]

const lists: ShortcutGroup = {
  title: 'Lists',
  shortcuts: [
    { keys: ['J'], label: 'Next row' },
    { keys: ['K'], label: 'Previous row' },
    { keys: ['Enter'], label: 'Open the row' },
    { keys: ['Home'], label: 'First row' },
    { keys: ['End'], label: 'Last row' },
  ],
}

const inbox: ShortcutGroup = {
  title: 'Inbox',
  shortcuts: [
    { keys: ['J'], label: 'Next item' },
    { keys: ['K'], label: 'Previous item' },
    { keys: ['1–9'], label: 'Choose an answer' },
    { keys: ['R'], label: 'Write an answer' },
    { keys: ['X'], label: 'Dismiss' },
    { keys: ['M'], label: 'Select' },
  ],
}

const log: ShortcutGroup = {
  title: 'Logs',
  shortcuts: [
    { keys: ['/'], label: 'Search the log' },
    { keys: ['N'], label: 'Next match' },
    { keys: ['Shift', 'N'], label: 'Previous match' },
    { keys: ['W'], label: 'Wrap lines' },
    { keys: ['F'], label: 'Follow new lines' },
  ],
}
