import { useSuspenseQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { AuditTab } from '../features/audit/audit-tab.tsx'
import { meQuery } from '../features/users/queries.ts'
import { AdminsOnly } from '../shell/admins-only.tsx'
import { useApi } from '../shell/app-context.ts'
import { Page } from '../shell/page.tsx'
import { PageHelp } from '../shell/page-help.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/signed-in/audit')({ component: AuditPage })

function AuditPage() {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  return (
    <Page>
      <Title of={['Audit log']} />
      {me.role === 'admin' ? (
        <AuditTab />
      ) : (
        <>
          <PageHeader title="Audit log" aside={<PageHelp guide="operate/audit-log" topic="Audit log" />} />
          <AdminsOnly what="read the audit log" />
        </>
      )}
    </Page>
  )
}
