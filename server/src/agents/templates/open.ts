import type { Loop } from '../../background/loops.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Git } from '../../ports/git/port.ts'
import { createContentStore } from './content-store.ts'
import { createGitTemplates } from './git-templates.ts'
import { createTemplates, type MadeFrom, type Templates } from './service.ts'
import { parseTemplateName } from './template-name.ts'

export type OpenTemplatesDeps = {
  git: Git
  clock: Pick<Clock, 'now'>
  /** `owner/repo` of each entry of the admin's list. */
  gitRepositories(): Promise<readonly string[]>
  /** The platform's token for the git host, or null. */
  platformGitToken(): Secret | null
  /** All existing agents. */
  agents(): Promise<readonly MadeFrom[]>
  options: {
    /** Absolute path, with one folder for each bundled template. */
    templatesFolder: string
    /** Absolute path; contents of repositories are unpacked here. */
    templateContentFolder: string
    /** URL of the only supported git host, without a trailing slash. */
    gitBaseUrl: string
  }
}

/** The templates of an installation: bundled ones and those from its git host. */
export function openTemplates(deps: OpenTemplatesDeps): { templates: Templates; loops: Loop[] } {
  const { git, clock, gitRepositories, platformGitToken, agents, options } = deps
  const addressOf = (repository: string) => `${options.gitBaseUrl}/${repository}`
  const content = createContentStore({ folder: options.templateContentFolder, git, addressOf, clock })
  const gitTemplates = createGitTemplates({
    git,
    addressOf,
    repositories: gitRepositories,
    platformToken: platformGitToken,
    content,
    clock,
  })

  async function sweep(): Promise<void> {
    const inUse = (await agents()).flatMap(({ template, template_commit }) => {
      const name = template === null ? null : parseTemplateName(template)
      return name && template_commit ? [{ repository: name.repository, commit: template_commit }] : []
    })
    await content.sweep(inUse)
  }

  return {
    templates: createTemplates({ folder: options.templatesFolder, git: gitTemplates, content, clock }),
    loops: [{ name: 'agents.template-contents', everySeconds: 3600, run: sweep }],
  }
}
