/** Endpoints that the scheduler calls, without their schemas: they keep its process small. */
export const executeTaskAt = { method: 'POST', path: '/api/internal/execute-task' } as const
export const executeTasksAt = { method: 'POST', path: '/api/internal/execute-tasks' } as const
export const scheduleChangesAt = { method: 'GET', path: '/api/internal/schedules/changes' } as const
export const validateExecutionAt = { method: 'POST', path: '/api/internal/validate-execution' } as const

/** Maximum of missed due times that fire late. */
export const mostMisfires = 12
