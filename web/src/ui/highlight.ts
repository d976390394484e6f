import { common, createLowlight } from 'lowlight'

const lowlight = createLowlight(common)

/** The syntax tree of code; null for an unknown language. */
export function highlight(code: string, language: string): ReturnType<typeof lowlight.highlight> | null {
  const name = language.toLowerCase()
  return lowlight.registered(name) ? lowlight.highlight(name, code) : null
}
