import { useQuery } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import { useMemo } from 'react'
import { useApp } from '../../shell/app-context.ts'
import { PageHelp } from '../../shell/page-help.tsx'
import { IconButton } from '../../ui/button.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { peopleQuery } from '../people/queries.ts'
import { AuditEntrySheet } from './audit-entry-sheet.tsx'
import { AuditFilters } from './audit-filters.tsx'
import { AuditStats } from './audit-stats.tsx'
import { AuditTable } from './audit-table.tsx'
import { ExportMenu } from './export-menu.tsx'
import { auditKeys } from './queries.ts'
import { useAuditSearch } from './use-audit-search.ts'
import { useVerification, VerificationResult } from './verification.tsx'

/** All writes, refused requests and sign-ins. */
export function AuditTab() {
  const { api, queries } = useApp()
  const { search, window, change, renew } = useAuditSearch()
  const { data: people } = useQuery(peopleQuery(api))
  const names = useMemo(
    () => new Map((people ?? []).map(({ id, name, username }) => [id, name?.trim() || username])),
    [people],
  )
  const verification = useVerification()
  const refresh = () => {
    renew()
    void queries.invalidateQueries({ queryKey: auditKeys.all })
  }
  return (
    <section aria-label="Audit log" className="min-w-0">
      <PageHeader
        title="Audit log"
        aside={<PageHelp guide="operate/audit-log" topic="Audit log" />}
        description="Every write, refused request and sign-in. Entries are hash-chained, so changes can be detected."
        actions={
          <>
            <IconButton label="Refresh" icon={<RotateCw aria-hidden />} onClick={refresh} />
            {verification.button}
            <ExportMenu window={window} />
          </>
        }
      />
      <div className="flex min-w-0 flex-col gap-4">
        <VerificationResult verification={verification} />
        <AuditFilters search={search} change={change} people={people ?? []} />
        <AuditStats window={window} search={search} change={change} />
        <AuditTable search={search} window={window} change={change} names={names} />
      </div>
      <AuditEntrySheet id={search.entry ?? null} names={names} change={change} />
    </section>
  )
}
