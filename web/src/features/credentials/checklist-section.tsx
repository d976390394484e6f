import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { CredentialRequirement, CredentialRequirements } from '@roost/contracts/agents/credentials'
import { useQuery } from '@tanstack/react-query'
import { ExternalLink, KeyRound } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Badge, StatusDot } from '../../ui/badge.tsx'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Section } from '../../ui/section.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { FillInDialog } from './fill-in-dialog.tsx'
import { requirementsQuery } from './queries.ts'
import { checklistRemark, requirementWords, sourceWords } from './words.ts'

/** The credentials that the template declares, one by one. */
export function ChecklistSection({ agent }: { agent: AgentDetails }) {
  const list = useQuery(requirementsQuery(useApi(), agent.name))
  const [isFilling, setFilling] = useState(false)
  const isRunning = agent.status === 'running'
  return (
    <Section
      title="Required credentials"
      description={list.data ? <Summary list={list.data} /> : 'The credentials that this agent needs.'}
      actions={
        <Button
          variant="primary"
          icon={<KeyRound aria-hidden />}
          disabled={!isRunning}
          onClick={() => setFilling(true)}
        >
          Set variables
        </Button>
      }
    >
      {list.data ? (
        <Checklist list={list.data} />
      ) : list.error ? (
        <ErrorState
          title="Could not load the required credentials"
          error={list.error}
          onRetry={() => void list.refetch()}
          className="w-full max-w-none rounded-lg border border-line bg-surface"
        />
      ) : (
        <SkeletonList rows={3} label="Loading required credentials" />
      )}
      <FillInDialog
        name={agent.name}
        requirements={isFilling ? (list.data?.requirements ?? []) : null}
        onClose={() => setFilling(false)}
      />
    </Section>
  )
}

function Summary({ list: { summary } }: { list: CredentialRequirements }) {
  if (summary.total === 0) return 'This agent declares no required credentials.'
  return (
    <>
      {summary.set} of {summary.total} set.
      {summary.blocking > 0 && <span className="text-danger"> {summary.blocking} required but missing.</span>}
    </>
  )
}

function Checklist({ list }: { list: CredentialRequirements }) {
  const remark = checklistRemark(list)
  return (
    <>
      {remark && (
        <Banner tone={list.state === 'degraded' ? 'warning' : 'info'} title={remark.title}>
          {remark.text}
        </Banner>
      )}
      {list.requirements.length === 0 ? (
        <Card padded={false}>
          <EmptyState
            icon={<KeyRound aria-hidden />}
            title="This agent declares no required credentials"
            description="The template.yaml file of an agent declares its credentials. You can set variables without a declaration."
          />
        </Card>
      ) : (
        <ul
          aria-label="Required credentials"
          className="divide-y divide-line rounded-lg border border-line bg-surface"
        >
          {list.requirements.map((each) => (
            <Requirement key={each.name} requirement={each} />
          ))}
        </ul>
      )}
    </>
  )
}

function Requirement({ requirement }: { requirement: CredentialRequirement }) {
  const { name, title, description, required, source, setup_url, setup_url_host } = requirement
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-1 px-4 py-3 text-sm">
      <div className="min-w-0 flex-1 basis-56">
        <p className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5">
          <span className="break-words font-medium">{title}</span>
          {required === false && <Badge>optional</Badge>}
          {required === 'unknown' && <Badge>not declared</Badge>}
        </p>
        <p className="break-all text-muted text-xs">
          {title !== name && <code>{name} · </code>}
          {sourceWords(source)}
        </p>
        {description && <p className="mt-1 break-words text-muted">{description}</p>}
        {setup_url && (
          <a
            href={setup_url}
            target="_blank"
            rel="noreferrer"
            className="mt-1 inline-flex max-w-full items-center gap-1 text-accent hover:underline"
          >
            <span className="truncate">Get this credential at {setup_url_host}</span>
            <ExternalLink aria-hidden className="size-3.5 shrink-0" />
          </a>
        )}
      </div>
      <StatusDot {...requirementWords(requirement)} />
    </li>
  )
}
