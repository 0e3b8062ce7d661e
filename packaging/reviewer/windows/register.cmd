@echo off
rem For this person only, without an administrator: a double click on a .rosetta-batch file opens it here.
rem The folder must stay where it is; after moving it, run this again. To undo: unregister.cmd.
setlocal
set "PROGRAM=%~dp0rosetta-review.exe"
set "CLASSES=HKCU\Software\Classes"
if not exist "%PROGRAM%" (
    echo rosetta-review.exe is not beside this file. Unpack the whole folder first.
    pause
    exit /b 1
)
reg add "%CLASSES%\.rosetta-batch" /ve /t REG_SZ /d "RosettaReview.Batch" /f >nul || goto failed
reg add "%CLASSES%\RosettaReview.Batch" /ve /t REG_SZ /d "Sentences to judge" /f >nul || goto failed
reg add "%CLASSES%\RosettaReview.Batch\DefaultIcon" /ve /t REG_SZ /d "\"%PROGRAM%\",0" /f >nul || goto failed
reg add "%CLASSES%\RosettaReview.Batch\shell\open\command" /ve /t REG_SZ /d "\"%PROGRAM%\" \"%%1\"" /f >nul || goto failed
echo Done. A double click on a file that ends in .rosetta-batch opens it.
pause
exit /b 0
:failed
echo That did not work. You can still start rosetta-review.exe and choose the file there.
pause
exit /b 1
