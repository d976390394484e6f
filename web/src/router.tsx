import { createRootRouteWithContext, createRoute, createRouter, redirect } from '@tanstack/react-router'
import { authModeQuery } from './features/sessions/queries.ts'
import { signInMethods } from './features/sessions/sign-in-methods.ts'
import { meQuery } from './features/users/queries.ts'
import { loadCode } from './lib/code.ts'
import { flag, oneOf, searchOf, text, whole } from './lib/search-params.ts'
import type { App } from './shell/app-context.ts'
import { LoadFailed } from './shell/load-failed.tsx'
import { NotFound } from './shell/not-found.tsx'
import { PagePending } from './shell/page-pending.tsx'
import { Root } from './shell/root.tsx'

const root = createRootRouteWithContext<App>()({
  component: Root,
})

const setup = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  beforeLoad: async ({ context }) => {
    const mode = await context.queries.query({ ...authModeQuery(context.api), staleTime: 0 })
    if (mode.setup_completed) throw redirect({ to: '/' })
  },
}).lazy(() => loadCode(() => import('./pages/setup.tsx').then((page) => page.route)))

// Declared apart: next to `beforeLoad` the route cannot infer its type.
const loginSearch = searchOf({ next: text, way: oneOf(signInMethods) })

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: loginSearch,
  beforeLoad: async ({ context }) => {
    if (context.session.token() !== null) throw redirect({ to: '/' })
    const mode = await context.queries.query({ ...authModeQuery(context.api), staleTime: 0 })
    if (!mode.setup_completed) throw redirect({ to: '/setup' })
  },
}).lazy(() => loadCode(() => import('./pages/login.tsx').then((page) => page.route)))

/** Requires a session; otherwise redirects to the sign-in page and back afterwards. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: async ({ context, location, cause }) => {
    const toLogin = () => redirect({ to: '/login', search: { next: location.href } })
    // A page that is already shown asks for the sign-in in a dialog and keeps its typed input.
    const staysShown = () => cause === 'stay' && context.session.isLapsed()
    if (staysShown()) return
    if (context.session.token() === null) throw toLogin()
    try {
      await context.queries.query({ ...meQuery(context.api), staleTime: 60_000 })
    } catch (error) {
      if (staysShown()) return
      if (context.session.token() === null) throw toLogin()
      throw error
    }
  },
}).lazy(() => loadCode(() => import('./shell/layout.tsx').then((page) => page.route)))

const fleetFields = {
  view: oneOf(['tiles', 'table', 'timeline']),
  q: text,
  tags: text,
  status: text,
  owner: text,
  sort: text,
  create: flag,
  template: text,
}

// Declared apart: next to `beforeLoad` the route cannot infer its type.
const formerFleetSearch = searchOf(fleetFields)

const home = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  validateSearch: formerFleetSearch,
  beforeLoad: async ({ context, search }) => {
    // The list of agents was here before.
    if (Object.keys(search).length > 0) throw redirect({ to: '/agents', search })
    const { role } = await context.queries.query({ ...meQuery(context.api), staleTime: 60_000 })
    // Agents are only shared with them, and the Workspace is made for that.
    if (role === 'user') throw redirect({ to: '/workspace' })
  },
}).lazy(() => loadCode(() => import('./pages/home.tsx').then((page) => page.route)))

const agents = createRoute({
  getParentRoute: () => signedIn,
  path: '/agents',
  validateSearch: searchOf({ ...fleetFields, tab: text, called: text }),
}).lazy(() => loadCode(() => import('./pages/agents.tsx').then((page) => page.route)))

/** Further filters of runs, without those that have other meanings on some pages. */
const measuredRuns = { error: text, model: text, person: text, cost: text, tokens: text, duration: text }

const agent = createRoute({
  getParentRoute: () => signedIn,
  path: '/agents/$name',
  validateSearch: searchOf({
    tab: text,
    session: text,
    path: text,
    status: text,
    trigger: text,
    window: text,
    ...measuredRuns,
    q: text,
    page: whole(1),
    fan_out: text,
    ask: oneOf(['one', 'several']),
    from: text,
    schedule: text,
    create: flag,
    part: text,
    loop: text,
    canvas: text,
  }),
}).lazy(() => loadCode(() => import('./pages/agent.tsx').then((page) => page.route)))

const runPageFields = {
  view: oneOf(['transcript', 'raw']),
  q: text,
  line: whole(1),
  span: text,
  list: text,
}

const execution = createRoute({
  getParentRoute: () => signedIn,
  path: '/agents/$name/executions/$id',
  validateSearch: searchOf(runPageFields),
}).lazy(() => loadCode(() => import('./pages/execution.tsx').then((page) => page.route)))

const runComparison = createRoute({
  getParentRoute: () => signedIn,
  path: '/agents/$name/executions/$id/compare/$other',
  validateSearch: searchOf({ of: text }),
}).lazy(() => loadCode(() => import('./pages/compare-runs.tsx').then((page) => page.route)))

const attempts = createRoute({
  getParentRoute: () => signedIn,
  path: '/agents/$name/attempts',
}).lazy(() => loadCode(() => import('./pages/attempts.tsx').then((page) => page.route)))

const attemptSet = createRoute({
  getParentRoute: () => signedIn,
  path: '/agents/$name/attempts/$set',
  validateSearch: searchOf({ attempt: whole(1) }),
}).lazy(() => loadCode(() => import('./pages/attempt-set.tsx').then((page) => page.route)))

const deletedAgentRun = createRoute({
  getParentRoute: () => signedIn,
  path: '/executions/$id',
  validateSearch: searchOf(runPageFields),
}).lazy(() => loadCode(() => import('./pages/deleted-agent-run.tsx').then((page) => page.route)))

const library = createRoute({
  getParentRoute: () => signedIn,
  path: '/library',
  validateSearch: searchOf({
    tab: text,
    q: text,
    template: text,
    create: flag,
    from: text,
    skill: text,
    source: text,
    held: text,
  }),
}).lazy(() => loadCode(() => import('./pages/library.tsx').then((page) => page.route)))

const inboxFields = {
  status: text,
  agent: text,
  page: whole(1),
  kind: text,
  priority: text,
  item: text,
  type: text,
  report: text,
}

const inbox = createRoute({
  getParentRoute: () => signedIn,
  path: '/inbox',
  validateSearch: searchOf({ tab: text, ...inboxFields }),
}).lazy(() => loadCode(() => import('./pages/inbox.tsx').then((page) => page.route)))

const runFields = {
  status: text,
  trigger: text,
  agent: text,
  hours: whole(0, 8760),
  q: text,
  page: whole(1),
  from: text,
  to: text,
  tag: text,
  ...measuredRuns,
}

const runs = createRoute({
  getParentRoute: () => signedIn,
  path: '/runs',
  validateSearch: searchOf(runFields),
}).lazy(() => loadCode(() => import('./pages/runs.tsx').then((page) => page.route)))

const schedules = createRoute({
  getParentRoute: () => signedIn,
  path: '/schedules',
  validateSearch: searchOf({ q: text }),
}).lazy(() => loadCode(() => import('./pages/schedules.tsx').then((page) => page.route)))

const formerOperationsSearch = searchOf({ tab: text, called: text, ...inboxFields, ...runFields })

/** The former address of several pages. */
const operations = createRoute({
  getParentRoute: () => signedIn,
  path: '/operations',
  validateSearch: formerOperationsSearch,
  beforeLoad: ({ search: { tab, ...search } }) => {
    if (tab === 'executions') throw redirect({ to: '/runs', search })
    if (tab === 'schedules') throw redirect({ to: '/schedules', search })
    if (tab === 'health' || tab === 'permissions')
      throw redirect({ to: '/agents', search: { q: search.q, called: search.called, tab } })
    throw redirect({ to: '/inbox', search: { ...search, tab: tab === 'queue' ? undefined : tab } })
  },
})

const costs = createRoute({
  getParentRoute: () => signedIn,
  path: '/costs',
  validateSearch: searchOf({ by: text, period: text, from: text, to: text, agent: text }),
}).lazy(() => loadCode(() => import('./pages/costs.tsx').then((page) => page.route)))

const peopleFields = { q: text, sort: text, role: text, person: text }

const people = createRoute({
  getParentRoute: () => signedIn,
  path: '/people',
  validateSearch: searchOf(peopleFields),
}).lazy(() => loadCode(() => import('./pages/people.tsx').then((page) => page.route)))

const keyFields = { q: text, all: flag, key: text }

const keys = createRoute({
  getParentRoute: () => signedIn,
  path: '/keys',
  validateSearch: searchOf(keyFields),
}).lazy(() => loadCode(() => import('./pages/keys.tsx').then((page) => page.route)))

const auditFields = {
  q: text,
  key: text,
  type: text,
  action: text,
  actor: text,
  by: text,
  source: text,
  scope: text,
  agent: text,
  outcome: text,
  request: text,
  routine: flag,
  hours: whole(0, 87_600),
  from: text,
  to: text,
  entry: text,
}

const audit = createRoute({
  getParentRoute: () => signedIn,
  path: '/audit',
  validateSearch: searchOf(auditFields),
}).lazy(() => loadCode(() => import('./pages/audit.tsx').then((page) => page.route)))

const settingsSearch = searchOf({ tab: text, ...peopleFields, ...keyFields, ...auditFields })

const settings = createRoute({
  getParentRoute: () => signedIn,
  path: '/settings',
  validateSearch: settingsSearch,
  beforeLoad: ({ search: { tab, ...search } }) => {
    // These were tabs of the settings before.
    if (tab === 'access') throw redirect({ to: '/people', search })
    if (tab === 'keys') throw redirect({ to: '/keys', search })
    if (tab === 'audit') throw redirect({ to: '/audit', search })
  },
}).lazy(() => loadCode(() => import('./pages/settings.tsx').then((page) => page.route)))

const account = createRoute({
  getParentRoute: () => signedIn,
  path: '/account',
}).lazy(() => loadCode(() => import('./pages/account.tsx').then((page) => page.route)))

const sharedList = createRoute({
  getParentRoute: () => signedIn,
  path: '/shared',
}).lazy(() => loadCode(() => import('./pages/shared-conversation.tsx').then((page) => page.listRoute)))

const sharedConversation = createRoute({
  getParentRoute: () => signedIn,
  path: '/shared/$id',
}).lazy(() => loadCode(() => import('./pages/shared-conversation.tsx').then((page) => page.route)))

const mobile = createRoute({
  getParentRoute: () => signedIn,
  path: '/m',
  validateSearch: searchOf({ item: text }),
}).lazy(() => loadCode(() => import('./pages/mobile.tsx').then((page) => page.route)))

/** Open to people without an account: without a session the page asks for an e-mail code. */
const workspace = createRoute({
  getParentRoute: () => root,
  path: '/workspace',
  beforeLoad: async ({ context }) => {
    if (context.session.token() === null) return
    try {
      await context.queries.query({ ...meQuery(context.api), staleTime: 60_000 })
    } catch (error) {
      // An expired session falls back to the e-mail code.
      if (context.session.token() !== null) throw error
    }
  },
}).lazy(() => loadCode(() => import('./pages/workspace.tsx').then((page) => page.route)))

const workspaceFrame = createRoute({
  getParentRoute: () => workspace,
  id: 'frame',
  validateSearch: searchOf({
    q: text,
    rail: oneOf(['canvas', 'reports', 'files', 'people', 'info']),
  }),
}).lazy(() => loadCode(() => import('./pages/workspace.tsx').then((page) => page.frameRoute)))

const workspaceHome = createRoute({ getParentRoute: () => workspaceFrame, path: '/' }).lazy(() =>
  loadCode(() => import('./pages/workspace.tsx').then((page) => page.homeRoute)),
)

const workspaceInbox = createRoute({ getParentRoute: () => workspaceFrame, path: '/inbox' }).lazy(() =>
  loadCode(() => import('./pages/workspace.tsx').then((page) => page.inboxRoute)),
)

const workspaceAgent = createRoute({ getParentRoute: () => workspaceFrame, path: '/a/$agent' }).lazy(() =>
  loadCode(() => import('./pages/workspace.tsx').then((page) => page.agentRoute)),
)

const workspaceConversation = createRoute({ getParentRoute: () => workspaceFrame, path: '/c/$id' }).lazy(() =>
  loadCode(() => import('./pages/workspace.tsx').then((page) => page.conversationRoute)),
)

/** Open to anyone with the link; the page asks for a sign-in when the link requires one. */
const sharedCanvas = createRoute({ getParentRoute: () => root, path: '/canvas/s/$token' }).lazy(() =>
  loadCode(() => import('./pages/shared-canvas.tsx').then((page) => page.route)),
)

/** Open to anyone with the link; the page asks for an e-mail address when the link requires one. */
const publicChat = createRoute({ getParentRoute: () => root, path: '/chat/$token' }).lazy(() =>
  loadCode(() => import('./pages/public-chat.tsx').then((page) => page.route)),
)

/** Also matches `/help`. The guides are public in the repository and contain nothing of the installation. */
const guide = createRoute({
  getParentRoute: () => root,
  path: '/help/$',
  validateSearch: searchOf({ q: text }),
}).lazy(() => loadCode(() => import('./pages/help.tsx').then((page) => page.route)))

/** Also matches `/docs`. The API document contains nothing of the installation. */
const apiReference = createRoute({
  getParentRoute: () => root,
  path: '/docs/{-$operation}',
  validateSearch: searchOf({ q: text }),
}).lazy(() => loadCode(() => import('./pages/docs.tsx').then((page) => page.route)))

const routeTree = root.addChildren([
  setup,
  login,
  sharedCanvas,
  publicChat,
  guide,
  apiReference,
  signedIn.addChildren([
    home,
    agents,
    agent,
    execution,
    attempts,
    attemptSet,
    runComparison,
    deletedAgentRun,
    library,
    inbox,
    runs,
    schedules,
    operations,
    costs,
    people,
    keys,
    audit,
    settings,
    account,
    sharedList,
    sharedConversation,
    mobile,
  ]),
  workspace.addChildren([
    workspaceFrame.addChildren([workspaceHome, workspaceInbox, workspaceAgent, workspaceConversation]),
  ]),
])

export function createAppRouter(app: App) {
  return createRouter({
    routeTree,
    context: app,
    defaultPreload: 'intent',
    // The router never caches loader data: freshness is left to the queries.
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    defaultErrorComponent: LoadFailed,
    defaultPendingComponent: PagePending,
    defaultNotFoundComponent: NotFound,
    defaultPendingMs: 150,
    // Content replaces the skeleton at once. The router's default shows a skeleton for at least half a second.
    defaultPendingMinMs: 0,
  })
}

type AppRouter = ReturnType<typeof createAppRouter>

/** Starts to load the code of the page at the address, which otherwise waits until the account is known. */
export function preloadPage(router: AppRouter) {
  for (const { routeId } of router.matchRoutes(router.latestLocation)) {
    const route = router.routesById[routeId as keyof AppRouter['routesById']]
    // After a failure, the router loads the code again and shows what went wrong.
    router.loadRouteChunk(route)?.catch(() => {})
  }
}

declare module '@tanstack/react-router' {
  interface Register {
    router: AppRouter
  }
}
