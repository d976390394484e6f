/**
 * What the CLIs put into user messages on their own account. None of it is the user's text: a directive in it (in a
 * project's instructions, in an attached file) must not act, and it must not come back in an echo.
 */

/** A text block of a user message without the reminders in it; null when nothing of the user's remains. */
export function withoutReminders(text: string): string | null {
  const wholeBlock = text.trim()
  if (WHOLE_BLOCKS.some((pattern) => pattern.test(wholeBlock))) return null
  const rest = text.replace(INLINE, '\n')
  if (rest === text) return text
  return rest.trim() === '' ? null : rest.trim()
}

/**
 * The text blocks of one user message. Between the marks of Gemini's `@file` stands the content of the files, which
 * is the user's as little as the marks are.
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

/** Elements that a CLI also puts before or behind the user's words in the same block. */
const INLINE = /\s*<(system-reminder|hook_context)>[\s\S]*?<\/\1>\s*/g

/** Elements that a CLI sends as a block or message of their own. */
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
  // Summaries that take the place of earlier messages.
  /^Another language model started to solve this problem and produced a summary/,
  /^This session is being continued from a previous conversation/,
  // The frame that codex puts around an image, and the note that claude puts behind one.
  /^<image name=[^>]*>$/,
  /^<\/image>$/,
  /^\[Image: [^\]]*\]$/,
]
