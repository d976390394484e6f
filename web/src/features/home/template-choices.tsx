import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useApi } from '../../shell/app-context.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import { templatesQuery } from '../templates/queries.ts'

const maxTemplates = 3

/** The first templates. Each leads to the form of a new agent, and a link to all of them. */
export function TemplateChoices() {
  const { data, isError } = useQuery(templatesQuery(useApi()))
  // The form of a new agent offers the templates as well, and reports the failure.
  if (isError && !data) return null
  if (!data) return <Skeleton className="mt-2 h-20 w-full rounded-md" />
  const shown = data.filter(({ metadata_unavailable }) => !metadata_unavailable).slice(0, maxTemplates)
  return (
    <>
      <ul aria-label="Templates" className="mt-2 grid gap-2 sm:grid-cols-3">
        {shown.map(({ id, display_name, description }) => (
          <li key={id} className="min-w-0">
            <Link
              to="/agents"
              search={{ create: true, template: id }}
              className="block h-full rounded-md border border-line p-3 hover:border-line-strong hover:bg-hover"
            >
              <span className="block break-words font-medium">{display_name}</span>
              <span className="mt-0.5 line-clamp-2 break-words text-muted text-xs">{description}</span>
            </Link>
          </li>
        ))}
      </ul>
      <Link
        to="/library"
        search={{ tab: 'templates' }}
        className="mt-2 inline-block text-accent text-xs hover:underline"
      >
        All templates
      </Link>
    </>
  )
}
