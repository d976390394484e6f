import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useApi } from '../../shell/app-context.ts'
import { meQuery } from '../users/queries.ts'
import { SkillList } from './skill-list.tsx'
import { SkillPanel } from './skill-panel.tsx'
import { SourcesSection } from './sources-section.tsx'

const route = getRouteApi('/signed-in/library')

/** All skills and sources, or the skill in the address. */
export function SkillsLibrary() {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  const { skill, q, source, held } = route.useSearch()
  const navigate = route.useNavigate()
  if (skill !== undefined) return <SkillPanel key={skill} name={skill} />
  return (
    <div className="flex min-w-0 flex-col gap-8">
      <SkillList
        filter={{ q, source, held }}
        onFilter={(change) =>
          void navigate({ search: (now) => ({ ...now, ...change }), replace: true, resetScroll: false })
        }
        onOpen={(name) => void navigate({ search: { tab: 'skills', skill: name } })}
      />
      <SourcesSection isAdmin={me.role === 'admin'} />
    </div>
  )
}
