import { automations, type Skill } from '@roost/contracts/skills/library'
import { z } from 'zod'
import { parseYaml } from '../../kit/yaml.ts'

/** The metadata in a skill's instruction file. */
export type SkillFacts = Pick<
  Skill,
  'description' | 'automation' | 'user_invocable' | 'allowed_tools' | 'argument_hint' | 'requires'
> & { title?: string | null; warnings: string[] }

const maxFrontmatterLength = 64 * 1024
const maxDescriptionLength = 1024

const names = z
  .union([z.string().transform((text) => text.split(/[,\s]+/)), z.array(z.coerce.string())])
  .transform((list) =>
    list
      .map((name) => name.trim())
      .filter((name) => name !== '' && name.length <= 100)
      .slice(0, 50),
  )
  .catch([])
/** A value of the wrong type counts as missing. */
export const Frontmatter = z.looseObject({
  title: z.string().trim().max(200).nullish().catch(null),
  description: z.string().max(20_000).nullish().catch(null),
  automation: z.enum(automations).nullish().catch(null),
  'user-invocable': z.boolean().catch(true).default(true),
  'allowed-tools': z
    .union([z.string().transform((text) => text.split(',')), z.array(z.coerce.string())])
    .transform((list) =>
      list
        .map((tool) => tool.trim())
        .filter(Boolean)
        .slice(0, 200),
    )
    .catch([])
    .default([]),
  'argument-hint': z.coerce.string().max(1000).nullish().catch(null),
  requires: z
    .object({ packages: names.default([]), binaries: names.default([]), env: names.default([]) })
    .catch({ packages: [], binaries: [], env: [] })
    .default({ packages: [], binaries: [], env: [] }),
})

/** Reads the front matter. Without a readable one, the first paragraph is the description. */
export function readFrontmatter(content: string): SkillFacts & { title: string | null } {
  const { head, rest } = split(content)
  const parsed = head === null ? { value: {}, isBroken: false } : parseHead(head)
  const facts = Frontmatter.parse(parsed.value)
  const description = facts.description?.trim() || firstParagraph(rest)
  return {
    title: facts.title || null,
    description: description ? description.slice(0, maxDescriptionLength) : null,
    automation: facts.automation ?? null,
    user_invocable: facts['user-invocable'],
    allowed_tools: facts['allowed-tools'],
    argument_hint: facts['argument-hint'] ?? null,
    requires: facts.requires,
    warnings: parsed.isBroken ? ['frontmatter_invalid'] : [],
  }
}

function split(content: string): { head: string | null; rest: string } {
  const [, head, rest] =
    /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n?---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(content) ?? []
  return head === undefined ? { head: null, rest: content } : { head, rest: rest ?? '' }
}

function parseHead(head: string): { value: object; isBroken: boolean } {
  const broken = { value: {}, isBroken: true }
  if (head.length > maxFrontmatterLength) return broken
  try {
    const value = parseYaml(head)
    if (value === null) return { value: {}, isBroken: false }
    return typeof value === 'object' && !Array.isArray(value) ? { value, isBroken: false } : broken
  } catch {
    return broken
  }
}

function firstParagraph(text: string): string | null {
  const paragraphs = text.split(/\r?\n\s*\r?\n/).map((each) => each.replace(/\s+/g, ' ').trim())
  return paragraphs.find((each) => each !== '' && !each.startsWith('#')) ?? null
}
