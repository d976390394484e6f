/**
 * Texts that CLIs add to user messages. Directives in them (project instructions, attached files) must not
 * act, and echoes must not return them.
 */

/** Returns a block without reminders, or null when no user text remains. */
export function withoutReminders(text: string): string | null {
  const wholeBlock = text.trim()
  if (WHOLE_BLOCKS.some((pattern) => pattern.test(wholeBlock))) return null
  const rest = text.replace(INLINE, '\n')
  if (rest === text) return text
  return rest.trim() === '' ? null : rest.trim()
}

/**
 * The user's text blocks of one message. Gemini's `@file` marks enclose file contents, which are not user
 * text.
 */
export function userTexts(blocks: readonly string[]): string[] {
  const texts: string[] = []
  let isFileContent = false
  for (const block of blocks) {
    const mark = block.trim()
    if (mark === FILES_START) isFileContent = true
    const text = isFileContent ? null : withoutReminders(block)
    if (text !== null) texts.push(text)
    if (mark === FILES_END) isFileContent = false
  }
  return texts
}

const FILES_START = '--- Content from referenced files ---'
const FILES_END = '--- End of content ---'

/** Elements that a CLI adds before or after user text in the same block. */
const INLINE = /\s*<(system-reminder|hook_context)>[\s\S]*?<\/\1>\s*/g

/** Elements that a CLI sends as separate blocks or messages. */
const ELEMENTS = [
  'session_context',
  'environment_context',
  'user_instructions',
  'skill',
  'turn_aborted',
  'subagent_notification',
  'rollout_budget',
  'context_window',
  'recommended_plugins',
  'image_resize_notice',
]

const WHOLE_BLOCKS: readonly RegExp[] = [
  ...ELEMENTS.map((name) => new RegExp(`^<${name}(\\s[^>]*)?>[\\s\\S]*</${name}>$`)),
  /^# AGENTS\.md instructions[\s\S]*<\/INSTRUCTIONS>$/,
  // Summaries that replace earlier messages.
  /^Another language model started to solve this problem and produced a summary/,
  /^This session is being continued from a previous conversation/,
  // The frame that codex puts around an image, and the note that claude adds after one.
  /^<image name=[^>]*>$/,
  /^<\/image>$/,
  /^\[Image: [^\]]*\]$/,
]
