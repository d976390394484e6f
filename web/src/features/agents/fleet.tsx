import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useApi } from '../../shell/app-context.ts'
import { Page } from '../../shell/page.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { agentsQuery } from './queries.ts'

export function Fleet() {
  const { data: agents } = useSuspenseQuery(agentsQuery(useApi()))
  return (
    <Page>
      <PageHeader title="Dashboard" />
      <ul>
        {agents.map(({ name, label }) => (
          <li key={name}>
            <Link to="/agents/$name" params={{ name }}>
              {label ?? name}
            </Link>
          </li>
        ))}
      </ul>
    </Page>
  )
}
