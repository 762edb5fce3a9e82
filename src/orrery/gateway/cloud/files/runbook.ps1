# Starts the gateway's machine after the cloud has shut it down. Running twice does no harm.
#
# PowerShell 7.2, in the grammar of 5.1. The webhook's body is a hint: anyone who has the address can write it, and it
# may have lost its quotes. The machine to start is set here. All is tried in one loop: 401, 403 and 404 end it, and
# what else goes wrong may pass. tests/gateway/cloud/cases.toml holds all that is decided; restart.py does the same.
param([object] $WebhookData)

$ErrorActionPreference = 'Stop'
$Machine = '@VM_RESOURCE_ID@'
$ClientId = '@CLIENT_ID@'
$ApiVersion = 'api-version=2024-07-01'
$Time = '^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3])(:[0-5]\d){2}Z$'
$Refused = 'The cloud refused: the identity of the runbook, or its role on the machine, is missing. ' +
    'Create them again: type `orrery gateway cloud apply`.'
$Gone = 'The machine was not found: it was moved, renamed or deleted. ' +
    'Correct its id in the settings, then type `orrery gateway cloud apply`.'

$Alert = "$WebhookData"
if ($WebhookData.RequestBody) { $Alert = "$($WebhookData.RequestBody)" }
$Alert = $Alert -replace '\\', ''
function Test-Field([string] $Name, [string] $Value) {
    $Alert -match ('(?<![a-z])' + $Name + '["''\s]*[:=]["''\s]*' + $Value + '(["''\s,;}]|$)')
}
function Invoke-Cloud([string] $Method, [string] $Rest, [string] $Holds) {
    $reply = Invoke-AzRestMethod -Method $Method -Path ($Machine + $Rest) -DefaultProfile $context
    if ($reply.StatusCode -ne 200 -and $reply.StatusCode -ne 202) { throw "Status: $([int] $reply.StatusCode)" }
    if ($reply.Content) { ConvertFrom-Json $reply.Content | Out-Null }
    if ($reply.Content -notmatch $Holds) { throw 'The answer cannot be read.' }
    $reply.Content
}

$IsReadable = (Test-Field 'status' '\w+') -and (Test-Field 'resourceId' '/\S+')
$IsOurs = Test-Field 'resourceId' ([regex]::Escape($Machine))
$IsUnavailable = (Test-Field '(category|eventSource)' 'ResourceHealth') -and
    (Test-Field 'currentHealthStatus' 'Unavailable')
$IsDeallocated = (Test-Field '(category|eventSource)' 'Administrative') -and
    (Test-Field 'operationName' '[\w./]+/deallocate/action') -and (Test-Field 'status' 'Succeeded')
if (Test-Field 'schemaId' 'orrery-test') { $idle = 'this is a test' }
elseif ($IsReadable -and -not $IsOurs) { $idle = 'the alert names another machine' }
elseif ($IsReadable -and -not (Test-Field 'status' 'Activated')) { $idle = 'the alert is not activated' }
elseif ($IsReadable -and -not ($IsUnavailable -or $IsDeallocated)) { $idle = 'the alert reports no shutdown' }

$power = 'unknown'
for ($poll = 0; $poll -le 16; $poll++) {
    if ($poll -gt 0) { Start-Sleep -Seconds 15 }
    $trouble = ''
    try {
        $step = 'sign in'
        if (-not $context) { Connect-AzAccount -Identity -AccountId $ClientId | Out-Null }
        if (-not $context) { $context = Get-AzContext }
        if (-not $context) { throw 'No account is signed in.' }
        $step = 'look at the machine'
        $seen = Invoke-Cloud 'GET' ('?$expand=instanceView&' + $ApiVersion) '"statuses"'
        $power = 'unknown'
        if ($seen -match '"PowerState/(\w+)"') { $power = $Matches[1] }
        if ($idle) { return "Nothing to do: $idle. The machine is $power." }
        if ($power -eq 'running' -and $started) { return "The machine was started, and is running.$remark" }
        if ($power -eq 'running') { return "The machine is already running: nothing to do.$remark" }
        # ConvertFrom-Json would make a local date of the tag's time.
        if ($seen -match '"orrery-paused-until"\s*:\s*"([^"]+)"') {
            $until = $Matches[1]
            $now = (Get-Date).ToUniversalTime().ToString('yyyyMMddHHmmss')
            if ($until -notmatch $Time) { $remark = ' The tag orrery-paused-until holds no time: it pauses nothing.' }
            elseif ([long] ($until -replace '\D', '') -gt [long] $now) {
                return "The restart is paused until ${until}: the machine stays $power."
            }
        }
        if ($power -match '^(starting|stopping|deallocating)$') { continue }
        $step = 'start the machine'
        Invoke-Cloud 'POST' ('/start?' + $ApiVersion) '' | Out-Null
        $started = $true
    } catch {
        $trouble = " (the attempt to $step failed: $("$_" -replace '\s+', ' ' -replace '(?<=^.{200}).+', ''))"
        Write-Warning $trouble
        if ("$_" -match 'Status: 404\b' -and $step -ne 'sign in') { throw $Gone }
        if ("$_" -match 'Status: 40[134]\b') { throw $Refused }
    }
}
throw "The machine was not seen running within 4 min: it is $power$trouble. " +
    "Look at its activity log, then type ``orrery gateway start``.$remark"
