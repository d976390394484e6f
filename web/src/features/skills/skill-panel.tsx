import { ApiError } from '@roost/contracts/client'
import type { SkillDetail } from '@roost/contracts/skills/library'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowLeft, FileCode2, FileText, SearchX } from 'lucide-react'
import { Suspense } from 'react'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { PageHelp } from '../../shell/page-help.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Banner } from '../../ui/banner.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { Bytes } from '../../ui/bytes.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { skillQuery } from './queries.ts'
import { SkillFacts } from './skill-facts.tsx'
import { SkillHolders } from './skill-holders.tsx'
import { bodyOf, warningWords } from './words.ts'

const Markdown = lazyPart(async () => (await import('../../ui/markdown.tsx')).Markdown)

/** One skill: instructions, files and the agents that use it. */
export function SkillPanel({ name }: { name: string }) {
  const skill = useQuery(skillQuery(useApi(), name))
  const code = skill.error instanceof ApiError ? skill.error.body?.error : undefined
  // An invalid name is handled like an unknown skill.
  const isUnknown = code === 'skill_not_found' || code === 'invalid_skill_name'
  return (
    <div className="min-w-0">
      <PageHeader
        back={
          <Link to="/library" search={{ tab: 'skills' }} className="inline-flex items-center gap-1">
            <ArrowLeft aria-hidden className="size-3" />
            All skills
          </Link>
        }
        title={name}
        aside={
          <>
            {skill.data?.automation && <Badge tone="info">{skill.data.automation}</Badge>}
            <PageHelp guide="how-to/skills" topic="Skills" />
          </>
        }
        description={skill.data?.description}
      />
      <div className="grid min-w-0 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
        {skill.data ? <Content skill={skill.data} /> : isUnknown ? <Unknown /> : <NoContent query={skill} />}
        <div className="flex min-w-0 flex-col gap-5">
          <SkillHolders skill={name} isInLibrary={skill.data !== undefined} />
          {skill.data && <SkillFacts skill={skill.data} />}
        </div>
      </div>
    </div>
  )
}

/** Agents may still have the skill; they are listed beside this. */
function Unknown() {
  return (
    <EmptyState
      icon={<SearchX aria-hidden />}
      title="Skill not found"
      description="The skill was removed or renamed in its repository, or its source was removed or disabled."
      action={
        <Link to="/library" search={{ tab: 'skills' }} className={buttonClass()}>
          Go to skills
        </Link>
      }
      className="w-full max-w-none rounded-lg border border-line bg-surface"
    />
  )
}

function NoContent({ query }: { query: { error: unknown; refetch: () => unknown } }) {
  if (!query.error) return <Skeleton className="h-96" />
  return (
    <ErrorState
      title="Could not load the skill"
      error={query.error}
      onRetry={() => void query.refetch()}
      className="w-full max-w-none rounded-lg border border-line bg-surface"
    />
  )
}

function Content({ skill }: { skill: SkillDetail }) {
  return (
    <div className="flex min-w-0 flex-col gap-5">
      {skill.shadowed_by.length > 0 && (
        <Banner tone="info" title={`Source: ${skill.source_name}`}>
          This skill takes precedence over the skills of the same name in {skill.shadowed_by.join(', ')}.
        </Banner>
      )}
      <Card>
        <h2 className="sr-only">Instructions</h2>
        <Suspense fallback={<Skeleton className="h-72" />}>
          <Markdown text={bodyOf(skill.content)} />
        </Suspense>
      </Card>
      <section aria-label="Files">
        <CardHeader
          title="Files"
          description={`${plural(skill.files.length, 'file')} of ${skill.path}, as delivered to agents.`}
        />
        <ul className="divide-y divide-line rounded-lg border border-line bg-surface text-sm">
          {skill.files.map(({ path, size_bytes, executable }) => (
            <li key={path} className="flex min-w-0 items-center gap-2 px-3 py-2">
              {executable ? (
                <FileCode2 aria-hidden className="size-4 shrink-0 text-muted" />
              ) : (
                <FileText aria-hidden className="size-4 shrink-0 text-muted" />
              )}
              <code className="min-w-0 flex-1 truncate text-xs" title={path}>
                {path}
              </code>
              {executable && <Badge>executable</Badge>}
              <Bytes bytes={size_bytes} className="text-muted text-xs" />
            </li>
          ))}
        </ul>
        {skill.warnings.length > 0 && (
          <Banner tone="warning" className="mt-3" title="Some files are not delivered to agents">
            <ul>
              {skill.warnings.map((warning) => (
                <li key={warning} className="break-words">
                  {warningWords(warning)}
                </li>
              ))}
            </ul>
          </Banner>
        )}
      </section>
    </div>
  )
}
